"""English words and question families for `training.templates`, all written for this project."""

FIRST = """
Ann Ben Carla Dmitri Elena Farid Greta Hamza Ingrid Jorge Keiko Liam Mbali Nadia Oscar Priya
Quentin Rosa Stefan Tariq Ursula Viktor Wanda Xavier Yusuf Zofia Akira Bianca Chidi Dolores Emil
Fatima Gustav Hanna Ivan Jasmin Kofi Lucia Mateo Ngozi Olga Pablo Rania Sven Tomoko Umar Vera
Wilhelm Yolanda Zane Aisha Bruno Chloe Declan Esra Fergus Gabriela Hugo Imani Jacek Katya Lars Mei
Nils Oksana Pedro Rahul Saskia Tunde Valentina Walter Ximena Yara Zoltan Amara Boris Camille Dawit
Edith Florian Giulia Hiroshi Isla Joao Kemal Leila Marek Nora Omar Petra Ravi Sofia Takeshi Ulrich
Vivek Winona Yuki Zainab Alberto Beatrix Cyrus Daphne Enzo Freya Gareth Helga Ismail Judith Karim
Lorenzo Magda Nikolai Orla Pavel Renata Samir Thandi Uwe Violet Wesley Yves Zelda Agnes Bjorn
Cecilia Dario Eszter Felix Gwen Hassan Irina Jonas Kirsten Leopold Miriam Nasser Odette Philippa
Rodrigo Simone Teodor Vanessa Wyatt Anders Brigid Clemens Delphine Eamon Farah Gideon Hilda Igor
Jelena Kwame Lotte Maurice Noor Otto Paloma Rupert Sinead Tobias Vikram Alma Barnaby Corinne
Desmond Elif Fiona Hector
""".split()
LAST = """
Okafor Lindqvist Moreau Tanaka Petrov Silva Haddad Novak Murphy Schneider Rossi Kowalski Nguyen
Patel Yilmaz Andersson Dubois Garcia Kim Ivanova Mensah Fischer Romano Horvat Sato Ahmed Costa
Jansen Eriksen Papadopoulos Castillo Weber Bianchi Chowdhury Dvorak Farkas Gallagher Hashimoto
Iyer Johansen Kaplan Laurent Mbeki Nakamura Oduya Pereira Rahimi Sorensen Takahashi Ulvaeus
Vasquez Whitaker Xu Yamada Zielinski Abbott Bakker Carvalho Demir Eriksson Ferrari Gupta Hoffmann
Ibrahim Jankowski Kaya Lopez Marchetti Nowicki Olsen Popescu Quintero Reyes Stein Thorne Ueda
Vogel Wallace Yeo Zhou Achebe Bergstrom Cisneros Donnelly Estrada Fontaine Greco Hendricks
Ishikawa Jovanovic Keller Larsen Mahmoud Nilsen Ortega Pavlov Ricci Stavros Toivonen Urbina Vance
Winkler Zapata Adeyemi Blanchard Chandra Delgado Engel Fraser Grimaldi Hakimi Inoue Jimenez Kovacs
Lombardi Mazur Nasri Osei Prior Rutherford Salazar Tremblay Valdez Wojcik Zimmer Amari Bouchard
Callahan Dragan Egerton Faulkner
""".split()
CITY = """
Lisbon Oslo Nairobi Kyoto Lima Cairo Toronto Prague Jakarta Dublin Seoul Madrid Vienna Hanoi
Bogota Athens Warsaw Denver Perth Mumbai Lagos Helsinki Quito Tbilisi Porto Zagreb Boston Milan
Osaka Geneva Bremen Ankara Tunis Havana Austin Leeds Lyon Turin Malmo Tartu Riga Vilnius Krakow
Seville Naples Dakar Accra Kigali Manila Taipei Busan Nagoya Delhi Chennai Doha Muscat Amman
Beirut Sofia Ghent
""".split()
COUNTRY = """
Portugal Norway Kenya Japan Peru Egypt Canada Chile Indonesia Ireland Spain Austria Vietnam
Colombia Greece Poland Brazil India Nigeria Finland Ecuador Georgia Croatia Italy France Germany
Turkey Cuba Sweden Estonia Latvia Senegal Ghana Rwanda Thailand Qatar Oman Jordan Morocco Mexico
Iceland Belgium
""".split()
NATION = """
Portuguese Norwegian Kenyan Japanese Peruvian Egyptian Canadian Chilean Irish Spanish Austrian
Greek Polish Brazilian Indian Nigerian Finnish Croatian Italian French German Turkish Cuban
Swedish Latvian Ghanaian Thai Moroccan Mexican Icelandic Belgian Danish Dutch Korean Ukrainian
Czech Hungarian
""".split()
JOB = (
    """
engineer, architect, poet, painter, singer, lawyer, chemist, surgeon, pilot, baker, farmer, judge,
novelist, actor, dancer, composer, economist, physicist, botanist, carpenter, chef, dentist,
editor, firefighter, gardener, historian, journalist, librarian, mechanic, nurse, optician,
plumber, sculptor, tailor, translator, vet, welder, biologist, boxer, swimmer, cyclist,
photographer, accountant
""".replace("\n", " ")
    .strip()
    .split(", ")
)
JOB_SAME = (
    "doctor=physician, lawyer=attorney, writer=author, film-maker=movie director, cop=policeman"
)
ANIMAL = """
horse camel otter falcon tiger goat lizard dolphin badger penguin rabbit donkey hamster wolf fox
bear moose heron parrot turtle beaver squirrel raccoon leopard zebra giraffe ferret hedgehog owl
pigeon
""".split()
OBJECT = (
    """
printer, invoice, laptop, router, lamp, bicycle, camera, contract, ticket, server, battery,
keyboard, parcel, passport, headset, monitor, washing machine, freezer, sofa, ladder, drill, tent,
suitcase, guitar, piano, kettle, toaster, tractor, boat, carpet, mirror, backup, report, database,
playlist, spreadsheet, folder, invitation, subscription, coupon, sensor, charger, projector, desk,
wallet, umbrella, blender, microphone, telescope, helmet, violin, chimney, window, curtain,
balcony, elevator, scooter, thermostat, pillow, basket, candle, envelope, diary, necklace,
compass, shovel, mattress, vase, statue, calculator, bracelet
""".replace("\n", " ")
    .strip()
    .split(", ")
)
PLACE = (
    """
library, warehouse, clinic, airport, harbour, museum, school, bakery, office, stadium, hotel, gym,
pharmacy, theatre, laboratory, garage, market, cathedral, car park, canteen, workshop, bank
""".replace("\n", " ")
    .strip()
    .split(", ")
)
SYLLABLE = (
    "ba co dra fen gly hu jor kel lum mo nex or pla qui ra syn tor ul ve wi xa yo zen".split()
)
ENDING = "ly io ra ix eo flow base kit hub pad wise bit nest ara".split()
CODE = """
Python Java Rust Ruby Kotlin Swift Perl Haskell Lua Scala Julia PHP TypeScript Elixir Dart
""".split()
FORMAT = "CSV JSON XML PDF PNG SVG YAML MP3 WAV EPUB DOCX HTML TIFF Parquet Markdown".split()
SPOKEN = "English French German Dutch Korean Arabic Hindi Polish Greek Turkish Swahili Thai".split()
MONTH = """
January February March April May June July August September October November December
""".split()
DAY = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
UNIT = """
hour:60:minute minute:60:second day:24:hour week:7:day year:12:month kilometre:1000:metre
metre:100:centimetre kilogram:1000:gram litre:1000:millilitre gigabyte:1000:megabyte
""".split()
VERB = """
follow visit thank blame greet invite trust mention replace warn copy:copied accuse:accused
train:trained miss:missed recognise interview defeat insult ignore protect examine
forgive-forgave-forgiven choose-chose-chosen beat-beat-beaten teach-taught-taught
catch-caught-caught hear-heard-heard sue push pull know-knew-known tell-told-told pay-paid-paid
find-found-found leave-left-left bite-bit-bitten scold betray arrest attack amuse consult comfort
chase envy overtake-overtook-overtaken outvote nominate promote coach tease threaten welcome
wake-woke-woken notify kick surprise text email quote cite interrupt imitate advise remind summon
disappoint endorse challenge block tag mentor succeed overhear-overheard-overheard
mislead-misled-misled accompany:accompanied describe paint photograph film draw-drew-drawn record
impress inspire bribe blackmail poison shoot-shot-shot drag:dragged carry:carried lift bury:buried
evict elect appoint reward punish hypnotise tickle scratch slap:slapped pinch outrun-outran-outrun
outrank mock salute escort detain frighten humiliate question defend convince distract disobey
worship adopt sponsor bless curse stalk kidnap:kidnapped hunt trap:trapped dethrone bandage
feed-fed-fed wash dress shave weigh measure
""".split()
VERB_SAME = """
call=phone=ring-rang-rung help=assist=aid hire=employ=recruit rescue=save trick=deceive=fool
criticise=censure fire=dismiss=sack hurt-hurt-hurt=injure=wound praise=commend contact=reach
""".split()
DO = """
open:close install:uninstall lock:unlock enable:disable start:stop=stopped connect:disconnect
hide:show archive:restore upload:download import:export encrypt:decrypt compress:extract
buy=bought:sell=sold publish:unpublish add:remove mute:unmute subscribe=subscribed-to:cancel
pin=pinned:unpin=unpinned load:unload attach:detach block:unblock rent:return
""".split()
GRADE = """
big bigger biggest small smaller smallest; heavy heavier heaviest light lighter lightest; fast
faster fastest slow slower slowest; old older oldest new newer newest; cheap cheaper cheapest
expensive dearer dearest; long longer longest short shorter shortest; hot hotter hottest cold
colder coldest; wide wider widest narrow narrower narrowest; thick thicker thickest thin thinner
thinnest; loud louder loudest quiet quieter quietest; strong stronger strongest weak weaker
weakest; safe safer safest risky riskier riskiest; bright brighter brightest dim dimmer dimmest;
hard harder hardest soft softer softest; clean cleaner cleanest dirty dirtier dirtiest; simple
simpler simplest complex more~complex most~complex; dry drier driest wet wetter wettest; deep
deeper deepest shallow shallower shallowest; smooth smoother smoothest rough rougher roughest
"""
HUMAN_GRADE = """
tall taller tallest short shorter shortest; old older oldest young younger youngest; rich richer
richest poor poorer poorest; strong stronger strongest weak weaker weakest; fast faster fastest
slow slower slowest; happy happier happiest sad sadder saddest; kind kinder kindest cruel crueller
cruellest; smart smarter smartest dumb dumber dumbest
"""
ADJ = """
big large / small tiny; quick fast speedy / slow sluggish; costly expensive pricey / cheap
inexpensive; broken defective faulty / intact undamaged; empty vacant / full filled; silent
noiseless / noisy; simple easy / difficult hard; safe secure / dangerous unsafe hazardous; old
ancient / new brand-new; common widespread / rare scarce; clear understandable / confusing
unclear; clean spotless / dirty filthy; strong sturdy robust / fragile flimsy; free complimentary
/ paid; real genuine authentic / fake counterfeit; public / private; required mandatory compulsory
/ optional voluntary; legal lawful / illegal unlawful; permanent lasting / temporary provisional;
visible / hidden concealed; accurate precise / inaccurate; useful helpful / useless; correct right
/ wrong incorrect; flexible / rigid inflexible; shiny glossy / dull matte; open / closed shut;
edible eatable / inedible; waterproof watertight / leaky; modern contemporary / outdated obsolete;
transparent see-through / opaque; smooth / rough bumpy; international global / local; automatic /
manual; wireless cordless / wired; boring dull / exciting thrilling; toxic poisonous / harmless;
identical / different; essential vital crucial / unnecessary needless
"""
TRAIT = """
friendly amiable / unfriendly hostile; brave courageous / cowardly fearful; rich wealthy / poor
broke; honest truthful / dishonest lying; famous well-known renowned / unknown obscure; married /
single unmarried; happy glad joyful / sad unhappy; angry furious / calm; generous / stingy
miserly; polite courteous / rude impolite; lazy idle / hardworking industrious; clever intelligent
smart / stupid; modest humble / arrogant; shy timid / outgoing; patient / impatient; ill sick
unwell / healthy; talkative chatty / quiet; careful cautious / careless reckless; guilty /
innocent; young / old elderly; thin slim / fat overweight; employed / jobless unemployed; sober /
drunk intoxicated; right-handed / left-handed
"""
UN = """
available unavailable; safe unsafe; stable unstable; paid unpaid; finished unfinished; legal
illegal; valid invalid; complete incomplete; visible invisible; possible impossible; reversible
irreversible; supported unsupported; encrypted unencrypted; official unofficial; limited
unlimited; signed unsigned; correct incorrect; known unknown; used unused; verified unverified;
responsive unresponsive; usual unusual
"""
MORE = """
expensive cheap; difficult easy; modern outdated; dangerous safe; complicated simple; flexible
rigid; reliable unreliable; popular unpopular; efficient wasteful; comfortable uncomfortable;
common rare; active inactive; accurate inaccurate; formal casual; detailed vague; polite rude;
transparent opaque
"""
TASK = (
    """
photosynthesis, compound interest, the water cycle, gradient descent, black holes, inflation,
recursion, the tax system, plate tectonics, vaccination, public-key encryption, supply chains,
time zones, jazz, sleep hygiene, fermentation, the electoral system, solar panels, insulin,
garbage collection, tides, erosion, natural selection, blockchain, the stock market, nuclear
fusion, hypnosis, origami, cloud storage, mortgage rates, hash tables, impressionism, game theory,
anaesthesia, the ozone layer, beekeeping
""".replace("\n", " ")
    .strip()
    .split(", ")
)
GROUP = (
    """
employees, members, students, tickets, invoices, users, seats, rooms, drivers, orders, files,
tests, parcels, volunteers, patients, lessons, trains, accounts, suppliers, chapters, sensors,
apps
""".replace("\n", " ")
    .strip()
    .split(", ")
)
EVENT = (
    """
the update, the reboot, the merger, the election, the concert, the flood, the audit, the
interview, lunch, the deadline, the outage, the migration, the exam, the wedding, the strike, the
launch, the payment, the holiday, the review, the storm, the training, the meeting, the crash, the
move, the race, the backup
""".replace("\n", " ")
    .strip()
    .split(", ")
)
CAUSE = (
    """
stress, insomnia, inflation, unemployment, deforestation, flooding, poverty, crime, obesity,
fatigue, migraine, anxiety, pollution, asthma, drought, famine, corruption, boredom, overheating,
packet loss
""".replace("\n", " ")
    .strip()
    .split(", ")
)
SCOPE = (
    """
on the free plan, on the team plan, on Android, on Windows, on Linux, in the EU, in Brazil, in
Canada, for students, for children under 12, for retirees, for nonprofits, in dark mode, on
weekends, at night, during the trial, in the mobile app, in the browser, for new customers, for
guests, under warranty, on a rented flat, for diabetics, for dogs, with a prepaid card, without an
account, in winter
""".replace("\n", " ")
    .strip()
    .split(", ")
)
THING = (
    """
price, colour, weight, size, release date, owner, battery life, warranty, birthplace, author,
serial number, capital, population, height, melting point, address, phone number, opening time,
default port, licence
""".replace("\n", " ")
    .strip()
    .split(", ")
)
ASPECT = (
    """
refund, password reset, discount, delivery, parking permit, visa, export, shared login, guest
pass, offline map, free upgrade, data transfer, group chat, second screen, bank statement, library
card, warranty claim, tax form, loyalty card, test account, repair, reservation, loan,
certificate, trial lesson, wheelchair, receipt, spare key, baggage allowance, booster seat, name
change, quiet room, season ticket, code review
""".replace("\n", " ")
    .strip()
    .split(", ")
)
AUDIENCE = (
    """
a child, a beginner, an expert, a nurse, my grandmother, a lawyer, a sales team, a physics
student, a farmer, a pilot, an investor, first-year students, a programmer, a hotel guest, a
journalist, a teenager, a dentist, a tourist, the board, a new colleague, a chess player, a poet,
an electrician, a shop owner, a civil servant, a toddler, a retired teacher, a biologist
""".replace("\n", " ")
    .strip()
    .split(", ")
)
SHAPE = (
    """
as a table, as bullet points, as a poem, in one sentence, in two paragraphs, as JSON, step by
step, as an email, in plain text, with examples, without examples, in a formal tone, in a funny
tone, as a numbered list, in three steps, as a dialogue, with a metaphor, as a song, as a quiz, as
a tweet, with a diagram, in simple words, in technical terms, as a letter, as a story
""".replace("\n", " ")
    .strip()
    .split(", ")
)
WHEN = (
    """
today, yesterday, last week, last month, this year, last year, on Monday, on Friday, at noon, at
midnight, in the morning, in the evening, in spring, in autumn, two days ago, five minutes ago, on
Sunday, this week
""".replace("\n", " ")
    .strip()
    .split(", ")
)
SOON = "tomorrow, next week, next month, on Monday, on Friday, in spring, tonight, in May".split(
    ", "
)
RIDE = "train, bus, car, bike, ferry, taxi".split(", ")
SONG = "song, ballad, anthem, aria, hymn, lullaby".split(", ")
COST = "long does it take, much does it cost, difficult is it".split(", ")
TIE = "married to each other, siblings, neighbours, cousins, friends, rivals, twins".split(", ")
SELF = """
polite rude; formal casual; flexible rigid; reliable unreliable; popular unpopular; active
inactive; patient impatient; honest dishonest; organised disorganised; confident insecure; careful
careless
"""
SHORT = (
    """
USB=universal serial bus, VPN=virtual private network, EU=European Union, UN=United Nations,
PIN=personal identification number, ATM=cash machine, GP=general practitioner, CEO=chief executive
officer, TV=television, GDP=gross domestic product, UK=United Kingdom, AI=artificial intelligence,
CPU=central processing unit, WHO=World Health Organization, PTO=paid time off, URL=web address,
FAQ=frequently asked questions
""".replace("\n", " ")
    .strip()
    .split(", ")
)
FLAG = """
cache color force quiet watch sync strict dry-run merge check progress verify pager fetch
""".split()
FILE = (
    "report invoice notes budget draft data config index main photo summary plan log users".split()
)
SUFFIX = "txt csv docx json xml png pdf md yaml zip xlsx html py js".split()
PLURAL = {"fox": "foxes", "wolf": "wolves", "moose": "moose", "washing machine": "washing machines"}
PLURAL |= {
    "monkey": "monkeys",
    "donkey": "donkeys",
    "library": "libraries",
    "playlist": "playlists",
}
LISTS = """
first last city country nation animal object place spoken month day task group event cause scope
thing aspect audience shape when soon ride song cost tie short
""".split()
STARTS = """
Is Are Was Were Does Do Did Will Can Would Could Who What Which Where When Why How At On In With
Without For From The By Explain Describe Give Write Translate Summarise Turn Rename Tell Show Find
Please Whose Of What's Who's Merge Put Port Rewrite Compared Change Status Someone Under During
""".split()
OPEN = """
Hi, |Hello, |Hey there, |Quick question: |Question: |Please tell me: |I was wondering: |
Good morning. |Sorry to bother you. |I'd like to know: |Just curious: |Dear support team, |So, |
Hi! I'm new here. |My manager wants to know: |Asking for a friend: |
I couldn't find this anywhere: |Help! |One more thing: |Okay, next question. |
Can you help me with this? |By the way, |I have a question. |Hi, {?first} here. |
I'm {?first}, a {?nation} {?job}. |My friend {?first} asked me this:
""".replace("\n", "").split("|")
PLAIN_OPEN = "Hi, |Hello, |By the way, |Hi! I'm new here. |So, |Good morning. ".split("|")
CLOSE = "| Thanks!| Thanks in advance.| Cheers| Please help.| Any idea?| Just wondering.".split("|")

FAMILIES = """
@passive_question role
Did {name1} [really|actually|] {verb} {name2}?
Was {name2} {verb.part} by {name1}?
Is it true that {name1} {verb.past} {name2}?
~ name1 name2
@passive_statement role
{name1} {verb.past} {name2} {when}.
{when.cap}, {name1} {verb.past} {name2}.
{name2} was {verb.part} by {name1} {when}.
~ name1 name2
@passive_why role
Why did {name1} {verb} {name2}?
[For what reason|Why] was {name2} {verb.part} by {name1}?
What made {name1} {verb} {name2}?
~ name1 name2
--
When did {name1} {verb} {name2}?
When was {name2} {verb.part} by {name1}?
@who_did role
Who {verb.past} {name1}?
By whom was {name1} {verb.part}?
Which person {verb.past} {name1}?
--
Who did {name1} {verb}?
Who was {verb.part} by {name1}?
Which person did {name1} {verb}?
@travel direction
How {cost} to get from {city1} to {city2} by {ride}?
How {cost} to get to {city2} from {city1} by {ride}?
~ city1 city2
@flight direction
Are there [direct|nonstop] flights from {city1} to {city2} {soon}?
Are there [direct|nonstop] flights to {city2} from {city1} {soon}?
Can I fly [nonstop|directly] from {city1} to {city2} {soon}?
~ city1 city2
@convert direction
How do I convert {format1} [files|] to {format2}?
[What is the way|What's the best way] to turn {format1} into {format2}?
How can {format1} be converted to {format2}?
How do I get {format2} out of {format1}?
~ format1 format2
@port direction
Port this function from {code1} to {code2}.
Rewrite this {code1} function in {code2}.
Translate this function into {code2} from {code1}.
~ code1 code2
@translate direction
Translate this letter from {spoken1} to {spoken2}.
Translate this letter into {spoken2} from {spoken1}.
Turn this {spoken1} letter into {spoken2}.
~ spoken1 spoken2
@compare_things comparison
Is the {object1} {grade.more} than the {object2}?
Is the {object2} {grade.less} than the {object1}?
Compared with the {object2}, is the {object1} {grade.more}?
~ object1 object2
@compare_people comparison
Is {name1} {hgrade.more} than {name2}?
Is {name2} {hgrade.less} than {name1}?
{name1} is {hgrade.more} than {name2}, [right|isn't it so|correct]?
~ name1 name2
@which_more comparison
Which is {grade.more}, the {object1} or the {object2}?
What is {grade.more}: the {object2} or the {object1}?
Of the {object1} and the {object2}, which one is {grade.more}?
--
Which is {grade.less}, the {object1} or the {object2}?
What is {grade.less}: the {object2} or the {object1}?
@equal_things comparison noflip
Is {name1} as {hgrade.pos} as {name2}?
Are {name1} and {name2} equally {hgrade.pos}?
Are {name2} and {name1} equally {hgrade.pos}?
--
Is {name1} {hgrade.more} than {name2}?
Is {name2} {hgrade.less} than {name1}?
--
Is {name2} {hgrade.more} than {name1}?
Is {name1} {hgrade.less} than {name2}?
@symmetric pair
Are {name1} and {name2} {tie}?
Are {name2} and {name1} {tie}?
@difference_between pair
What is the difference between {code1} and {code2}?
What's the difference between {code2} and {code1}?
How do {code1} and {code2} differ?
How does {code2} differ from {code1}?
@distance pair
How far is {city1} from {city2}?
How far is {city2} from {city1}?
What is the distance between {city1} and {city2}?
What's the distance from {city2} to {city1}?
@list_order pair
{object1.an.cap} and {object2.an} were found in the {place}.
{object2.an.cap} and {object1.an} were found in the {place}.
In the {place}, {object1.an} and {object2.an} were found.
@can_mix pair
Can I keep {animal1.an} and {animal2.an} together?
Can {animal2.an} live together with {animal1.an}?
Is it OK to keep {animal2.an} with {animal1.an}?
@eats role
Do {animal1.pl} hunt {animal2.pl}?
Are {animal2.pl} hunted by {animal1.pl}?
Do {animal2.pl} get hunted by {animal1.pl}?
~ animal1 animal2
@more_less_adj polarity
How can I become more {self.p}?
How can I become less {self.n}?
How do I get to be less {self.n}?
--
How can I become less {self.p}?
How can I become more {self.n}?
@more_less_market polarity
Why is the {object} becoming more {more.p}?
Why is the {object} becoming less {more.n}?
What makes the {object} less {more.n} [these days|nowadays]?
--
Why is the {object} becoming less {more.p}?
Why is the {object} becoming more {more.n}?
@un_words negation
Is the {object} {un.p}?
Is it true that the {object} is not {un.n}?
Is the {object} not {un.n} [but {un.p}|]?
The {object} is {un.p}, [right|correct]?
--
Is the {object} {un.n}?
Is it true that the {object} is not {un.p}?
The {object} is {un.n}, [right|correct]?
@double_negation negation
It is not true that {name} did not pay for the {object}.
{name} did pay for the {object}.
{name} paid for the {object}.
--
It is not true that {name} paid for the {object}.
{name} did not pay for the {object}.
{name} never paid for the {object}.
@person_not negation
A person who is not {trait.o}
Someone who isn't {trait.o}
A person who is {trait}
Someone who is {trait}
--
A person who is not {trait}
A person who is {trait.o}
Someone who isn't {trait}
@how_not negation
How do I become {trait.an} person?
How can I be someone who is {trait}?
What should I do to be {trait}?
--
How do I become a person who is not {trait}?
How can I be someone who isn't {trait}?
What should I do to stop being {trait}?
@can_not negation
Which {group} can [currently|] be {do.part}?
What {group} can you {do}?
--
Which {group} cannot [currently|] be {do.part}?
What {group} can't you {do}?
@where_not negation
Where is {aspect.an} [offered|available] [at the moment|right now|]?
In which places is {aspect.an} [offered|available]?
--
Where is {aspect.an} not [offered|available] [at the moment|right now|]?
In which places isn't {aspect.an} [offered|available]?
@tense_be time
Is {name} {job.an}?
Is {name} [currently|now|really] {job.an}?
Does {name} work as {job.an} [now|at present|]?
--
Did {name} use to be {job.an}?
Was {name} {job.an} in the past?
Was {name} formerly {job.an}?
--
Will {name} be {job.an}?
Is {name} going to be {job.an}?
@still time
Is the {object} still {adj}?
Does the {object} remain {adj}?
Is the {object} {adj} even now?
--
Was the {object} {adj} before?
Did the {object} use to be {adj}?
--
Will the {object} be {adj} [later|in the future]?
Is the {object} going to be {adj}?
@anymore time
{name} no longer works in {city}.
{name} doesn't work in {city} anymore.
{name} used to work in {city} but doesn't now.
--
{name} still works in {city}.
{name} continues to work in {city}.
In {city}, {name} is still working.
--
{name} will work in {city}.
{name} is going to work in {city}.
@coreference role
{first1} told {first2} that {first2} must {do} the {object}.
{first2} was told by {first1} to {do} the {object}.
{first1} told {first2} to {do} the {object}.
--
{first1} told {first2} that {first1} must {do} the {object}.
{first2} was told by {first1} that {first1} must {do} the {object}.
--
{first2} told {first1} to {do} the {object}.
{first1} was told by {first2} to {do} the {object}.
@his_her role
{name1} sold their own {object} to {name2}.
{name2} bought {name1.poss} {object} from {name1}.
{name1} sold {name2} {name1.poss} {object}.
--
{name2} sold their own {object} to {name1}.
{name1} bought {name2.poss} {object} from {name2}.
@sell_buy role
{name1} sold {object.an} to {name2}.
{name2} bought {object.an} from {name1}.
{object.an.cap} was sold to {name2} by {name1}.
~ name1 name2
@lend_borrow role
Did {name1} lend {object.an} to {name2}?
Did {name2} borrow {object.an} from {name1}?
Was {object.an} lent to {name2} by {name1}?
~ name1 name2
@give_receive role
What did {name1} give to {name2} {when}?
What did {name2} receive from {name1} {when}?
What did {name2} get from {name1} {when}?
~ name1 name2
@teach_learn role
Did {name1} learn {spoken} from {name2}?
Did {name2} teach {spoken} to {name1}?
Was {spoken} taught to {name1} by {name2}?
~ name1 name2
@parent role
Is {name1} the child of {name2}?
Is {name2} a parent of {name1}?
Is {name1} {name2.poss} child?
~ name1 name2
@boss role
Does {name1} report to {name2}?
Is {name2} the boss of {name1}?
Is {name1} managed by {name2}?
~ name1 name2
@teams role
Did {city1} beat {city2} {number} to zero {when}?
Did {city2} lose to {city1} by {number} to zero {when}?
Was {city2} beaten by {city1} {number} to zero {when}?
~ city1 city2
@adjective_yesno attribute
Is the {object} {adj}?
Is the {object} [actually|really|truly] {adj}?
Would you say the {object} is {adj}?
--
Is the {object} {adj.o}?
Is the {object} [actually|really|truly] {adj.o}?
@adjective_where attribute
Where can I buy {adj.an} {object}?
Where do they sell {adj} {object.pl}?
In which shop can I get {adj.an} {object}?
--
Where can I buy {adj.o.an} {object}?
Where do they sell {adj.o} {object.pl}?
@trait_statement attribute
{name} is a {trait} {job} from {city}.
{name}, {job.an} from {city}, is {trait}.
From {city} comes {name}, {trait.an} {job}.
--
{name} is {trait.o.an} {job} from {city}.
{name}, {job.an} from {city}, is {trait.o}.
@who_is name
Who is {name}?
Who's {name}[, by the way|]?
What do you know about {name}?
Tell me about {name}.
@full_name name
Where does {first} {last} live?
In which city does {first} {last} live?
{first} {last} lives where?
--
Where does {first?} {last} live?
--
Where does {first} {last?} live?
@born name
{name} was born in {city} in {year} and works as {job.an}.
Born in {city} in {year}, {name} works as {job.an}.
{name}, who was born in {year} in {city}, is working as {job.an}.
@nation_job profession
{name} is a {nation} {job}.
{name} is {job.an} of {nation} nationality.
The {nation} {job} {name}.
The {job} {name} is {nation}.
@nation_job_year profession
{name} (born {year}) is a {nation} {job1} and {job2}.
{name}, born in {year}, is a {nation} {job2} and {job1}.
Born {year}, the {nation} {job1} and {job2} {name}.
@count number
How do I list the first {number} {group}?
How can I show {number} {group} from the top?
Show the top {number} {group}.
@share number
What if more than {number} {group} are [affected|involved]?
What happens when over {number} {group} are [affected|involved]?
--
What if fewer than {number} {group} are [affected|involved]?
What happens when under {number} {group} are [affected|involved]?
--
What if exactly {number} {group} are [affected|involved]?
@quantity unit
Can I cancel within {duration}?
Is cancelling possible within {duration}?
Am I allowed to cancel inside of {duration}?
@quantity_limit unit
Is {quantity} the limit for {aspect.an}?
Is the limit for {aspect.an} {quantity}?
Does {aspect.an} have a limit of {quantity}?
@date_format date
What happened on {date}?
Which event took place on {date}?
On {date}, what happened?
@date_booking date
I booked a room in {city} for {date}.
For {date}, I have a room booked in {city}.
A room in {city} was booked by me for {date}.
@clock date
Is the {place} open at {clock} on {day}?
On {day} at {clock}, is the {place} open?
Can I go into the {place} on {day} at {clock}?
@version identifier
Does {app} {version} support {format}?
Is {format} supported by {app} {version}?
Can {app} {version} handle {format}?
@identifier identifier
What is the status of {id}?
Where is {id} [right now|]?
Status of {id}[, please|]?
@flag identifier case
What does {flag} do in {app}?
In {app}, what is {flag} for?
What's the effect of {flag} in {app}?
@file identifier
Where is {file} stored in {app}?
Where does {app} store {file}?
In {app}, where do I find {file}?
@rename direction case
Rename {file1} to {file2}.
Change the name of {file1} to {file2}.
Give {file1} the new name {file2}.
~ file1 file2
@copy direction
How do I copy {group} from {app1} to {app2}?
How do I copy {group} to {app2} from {app1}?
How can {group} in {app1} be copied over to {app2}?
~ app1 app2
@migrate direction
How do I move from {app1} to {app2}?
I use {app1}; how do I switch to {app2}?
How can I replace {app1} with {app2}?
How do I leave {app1} for {app2}?
~ app1 app2
@merge direction
Merge {file1} into {file2}.
Into {file2}, merge {file1}.
Put the changes of {file1} into {file2}.
~ file1 file2
@before_after order
Did {event1} come before {event2}?
Did {event2} come after {event1}?
Was {event1} earlier than {event2}?
~ event1 event2
@before_after_do order
{name} left after {event1} but before {event2}.
{name} left before {event2} but after {event1}.
After {event1} but before {event2}, {name} left.
~ event1 event2
@cause cause
Does {cause1} cause {cause2}?
Is {cause2} caused by {cause1}?
Can {cause2} be a result of {cause1}?
~ cause1 cause2
@causes_effects cause
What causes {cause}?
What are the causes of {cause}?
Where does {cause} come from?
--
What does {cause} cause?
What are the effects of {cause}?
What does {cause} lead to?
@question_word question
When is {event}?
At what time is {event}?
What is the time of {event}?
--
Where is {event} [taking place|being held]?
At which place is {event}?
--
Why is {event} [taking place|happening]?
What's the reason for {event}?
--
Who is [responsible for|in charge of] {event}?
--
How long is {event}?
How long does {event} last?
What's the duration of {event}?
@service_word question
How much does {aspect.an} cost?
What's the price of {aspect.an}?
What do I pay for {aspect.an}?
--
How long does {aspect.an} take?
How much time does {aspect.an} need?
--
How do I request {aspect.an}?
How can I ask for {aspect.an}?
--
Who can request {aspect.an}?
Who may ask for {aspect.an}?
--
Why do I need {aspect.an}?
What is the reason to have {aspect.an}?
@attribute attribute
What is the {thing} of {app}?
What's {app.poss} {thing}?
Tell me the {thing} of {app}.
@scope scope
Can I get {aspect.an} {scope}?
Is {aspect.an} possible {scope}?
{scope.cap}, can I get {aspect.an}?
@scope_price scope
How much is {aspect.an} {scope}?
What does {aspect.an} cost {scope}?
{scope.cap}, what's the price of {aspect.an}?
@place_scope scope
Which visa do {nation} citizens need for {country}?
For {country}, which visa do {nation} citizens need?
Which visa does a {nation} citizen need to enter {country}?
@age_scope scope
Is a lesson about {task} suitable for someone aged {age}?
Is a lesson about {task} right for someone who is {age}?
At age {age}, is a lesson about {task} suitable?
@with_without with
Can I {do} {object.an} with {aspect.an}?
With {aspect.an}, can I {do} {object.an}?
--
Can I {do} {object.an} without {aspect.an}?
Without {aspect.an}, can I {do} {object.an}?
@all_none quantifier
Are all {group} {un.p}?
Is every one of the {group} {un.p}?
Are the {group} {un.p} without exception?
--
Are none of the {group} {un.p}?
Are all {group} {un.n}?
--
Are some {group} {un.p}?
Is there at least one among the {group} that is {un.p}?
--
Are only the {group} {un.p}?
Is nothing but the {group} {un.p}?
@at_least quantifier
I need at least {number} {group}.
I need {number} or more {group}.
I need no fewer than {number} {group}.
--
I need at most {number} {group}.
I need {number} or fewer {group}.
I need no more than {number} {group}.
--
I need exactly {number} {group}.
I need {number} {group}, no more and no fewer.
@only_except quantifier
Which {group} came from {city}?
What {group} were from {city}?
--
Which {group} came from anywhere except {city}?
What {group} were not from {city}?
@format_suffix instruction
Explain {task} {shape}.
{shape.cap}, explain {task}.
Give me an explanation of {task} {shape}.
@audience_suffix instruction
Explain {task} to {audience}.
How would you explain {task} to {audience}?
Describe {task} so that {audience} understands.
@length_suffix instruction
Summarise {task} in {number} words.
In {number} words, summarise {task}.
Write a summary of {task} that is {number} words long.
@language_suffix instruction
Write about {task} in {spoken}.
In {spoken}, write something about {task}.
Write a text on {task}. Use {spoken}.
@task_word instruction
Summarise this article about {task}.
Give a summary of this article about {task}.
--
Translate this article about {task}.
Put this article about {task} into another language.
--
Criticise this article about {task}.
Point out what is bad in this article about {task}.
--
Write an article about {task}.
--
Find an article about {task}.
Look for an article on {task}.
@polite task
Explain {task}.
Could you [please|kindly] explain {task}?
[Please explain|I'd love an explanation of] {task}.
Would you mind explaining {task}?
@when time
Who came to the {place} {when}?
{when.cap}, who came to the {place}?
Which people came to the {place} {when}?
@superlative superlative
Which {object} is the {grade.most}?
What's the {grade.most} {object}?
Find the {grade.most} {object}.
--
Which {object} is the {grade.least}?
What's the {grade.least} {object}?
@superlative_count superlative
Which {place} has the most {group}?
What {place} has the highest number of {group}?
--
Which {place} has the fewest {group}?
What {place} has the lowest number of {group}?
@opposite_action action
How do I {do} {object.an}?
How can {object.an} be {do.part}?
What's the way to {do} {object.an}?
--
How do I {do.o} {object.an}?
How can {object.an} be {do.opart}?
What's the way to {do.o} {object.an}?
@action_failed action
I can't {do} the {object}.
I'm not able to {do} the {object}.
It's impossible for me to {do} the {object}.
--
I can't {do.o} the {object}.
I'm not able to {do.o} the {object}.
--
I can {do} the {object}.
I'm able to {do} the {object}.
@short_form short
What is the {short}?
What does the {short} mean?
What's [meant by|] the {short}?
@clauses statement
When {name1} moved to {city1}, {name2} stayed in {city2}.
{name2} stayed in {city2} when {name1} moved to {city1}.
While {name2} stayed in {city2}, {name1} moved to {city1}.
~ name1 name2
~ city1 city2
@clauses_three statement
{name1} is in the first room, {name2} in the second and {name3} in the third.
{name1} is in the first room, {name3} in the third and {name2} in the second.
~ name1 name2
~ name2 name3
@moved_company statement
In {year}, {name} left {app1} and joined {app2} in {city}.
{name} left {app1} in {year} and joined {app2} in {city}.
{name} joined {app2} in {city} after leaving {app1} in {year}.
~ app1 app2
@river statement
The train runs from {city1} through {city2} to {city3}.
From {city1}, the train runs to {city3} through {city2}.
~ city1 city2
~ city1 city3
@roles_two statement
{name1} wrote the {song}, and {name2} sang it.
The {song} was sung by {name2} and written by {name1}.
{name2} sang the {song} that {name1} wrote.
~ name1 name2
@prefer comparison
Does {name} prefer {code1} to {code2}?
Does {name} like {code1} better than {code2}?
Does {name} like {code2} less than {code1}?
~ code1 code2
@instead direction
Why use {app1} instead of {app2}?
Why should I pick {app1} over {app2}?
Instead of {app2}, why use {app1}?
~ app1 app2
@location role
Is the {place1} north of the {place2}?
Is the {place2} south of the {place1}?
Does the {place1} lie north of the {place2}?
~ place1 place2
@depends direction
Does {app1} depend on {app2}?
Is {app2} needed by {app1}?
Does {app1} need {app2} [to work|]?
~ app1 app2
@if order
If {event1} is cancelled, will {event2} be moved?
Will {event2} be moved if {event1} is cancelled?
[Suppose|Say] {event1} is cancelled: will {event2} be moved?
~ event1 event2
@both quantifier
Are both the {object1} and the {object2} {adj}?
Are the {object2} and the {object1} both {adj}?
--
Is either the {object1} or the {object2} {adj}?
Is at least one of the {object2} and the {object1} {adj}?
--
Is only the {object1} {adj}, but not the {object2}?
@allowed_must polarity
May I {do} the {object}?
Am I allowed to {do} the {object}?
Do I have permission to {do} the {object}?
--
Must I {do} the {object}?
Do I have to {do} the {object}?
Am I required to {do} the {object}?
--
Did I {do} the {object}?
Was the {object} {do.part} by me?
@frequency time
Do you {do} the {object} every {day}?
Do you {do} the {object} on all {day}s?
--
Did you {do} the {object} last {day}?
Was the {object} {do.part} by you last {day}?
--
Will you {do} the {object} next {day}?
Are you going to {do} the {object} next {day}?
@until time
Is the {place} closed until {clock}?
Does the {place} stay closed up to {clock}?
Does the {place} open no earlier than {clock}?
--
Is the {place} closed from {clock} [on|onwards]?
Does the {place} close at {clock}?
"""
