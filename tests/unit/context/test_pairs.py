"""Pairs of chats whose last questions lean on the same thing, and pairs that do not."""

# ruff: noqa: E501 (one chat a line reads better)
from __future__ import annotations

from langchain_semcache.context import Difference, compare, summarise

SAME = """
Which laptop should I buy for video editing? | The Nimbus 16 has plenty of memory and a bright screen. | How long does the battery last?
    I travel a lot and edit videos. | The Nimbus 16 would suit you. | Is it heavy? | 1.9 kilos. | and the battery life?

How do I prune roses? | Cut them back to three buds in early spring. | When do I fertilize them?
    My roses look sick. | Are there black spots on the leaves? | Yes | Remove those leaves, and prune the roses in spring. | ok. when should they get fertilizer?

What is a mortgage? | A loan that is secured by a house. | How long does it usually run?
    We are buying a house. | Congratulations! You may need a mortgage. | What's the typical term of one?

Who directed Jaws? | Steven Spielberg. | What else did he direct?
    I watched Jaws last night. | A classic by Spielberg. | Which other films did he make?

Is there a museum in Delft? | Yes, the Prinsenhof. | When does it open?
    What can we do in Delft with kids? | The Prinsenhof museum is fun for children. | Nice, when does it open?

How do I install Docker on Debian? | Add the repository, then run apt install docker-ce. | How do I start it at boot?
    I have a new Debian server. | What would you like to run there? | Docker. | Install docker-ce from the Docker repository. | how can I make it start automatically?

My flight LX318 was cancelled. | I'm sorry, you can rebook it for free. | Can I get my money back?
    Status of LX318 please | LX318 has been cancelled due to fog. | can I have a refund for it?

Recommend a restaurant in Porto. | Try Casa Guedes, famous for its sandwiches. | Do they take cards?
    Where do locals eat in Porto? | Many go to Casa Guedes. | Is it loud? | Rather, yes. | can I pay by card there?

What's a good first telescope? | A Dobsonian with 150 mm aperture. | How much would that be?
    My son loves the stars. | Binoculars or a Dobsonian telescope would be a great gift. | What do I pay for a Dobsonian with 150 mm?

How is sourdough made? | From flour, water and a starter. | Does it contain yeast?
    I prefer bread from the bakery. | Sourdough or toast? | Sourdough. | Good choice. | Is there yeast in it?

I have a headache. | Did you drink enough water? | Yes. | Then ibuprofen may help. | How many can I take a day?
    What is ibuprofen for? | Pain, fever and inflammation. | how many tablets per day are ok?

Tell me about the Battle of Hastings. | It was fought in 1066 between Normans and Saxons. | Who won it?
    What happened in 1066? | The Battle of Hastings, where William fought Harold. | Who won?

What is photosynthesis? | Plants turn light, water and carbon dioxide into sugar. | Where in the cell does it happen?
    I'm studying for my biology exam. | Which topic? | Photosynthesis | It turns light into chemical energy. | in which part of the cell does that take place?

Can I bring my bike on the night train? | Yes, with a reservation. | What does that cost?
    We take the night train to Graz. | Nice trip! | Are bikes allowed? | Yes, if you reserve a space for the bike. | how much does the bike space cost?

What is the Gini coefficient? | A measure of inequality between 0 and 1. | How do you calculate it?
    How do economists measure inequality? | Often by the Gini coefficient. | How is it computed?

Write a birthday greeting for my boss. | Happy birthday! May your year be full of success. | Make it funnier.
    My boss turns fifty. | Shall I write a birthday greeting? | Yes | Happy birthday! May your year be full of success. | can you make it more funny?

Which visa do I need for Vietnam? | An e-visa for up to 90 days. | How long does it take to get?
    We're planning a holiday in Vietnam. | Lovely! You will need an e-visa. | How long do I wait for it?

Is the Kobo Clara waterproof? | Yes, up to two metres. | Does it have a light?
    I read in the bathtub. | Then the waterproof Kobo Clara is right for you. | and does it have a light?

What's wrong with my fern? | Brown tips usually mean dry air. | What can I do about it?
    My fern has brown tips. | The air may be too dry. | how do I fix that?

How do I cancel my gym membership? | Send a letter two months before the end. | Can I do it online?
    I don't go to the gym any more. | You can cancel the membership two months before its end. | Is that possible online?

I want to grow tomatoes on my balcony. | They need six hours of sun. | How often do I water them?
    We have a sunny balcony. | Great for herbs. | I'd rather have tomatoes. | Tomatoes love the sun. | How often do they need water?

Which Beatles album is the best? | Many say Revolver. | When was it released?
    What's on Revolver by the Beatles? | Taxman, Eleanor Rigby and more. | when did it come out?

I spilled coffee on my keyboard. | Unplug it and turn it upside down. | How long should it dry?
    My keyboard got wet. | With water? | Coffee. | Unplug the keyboard and turn it over. | How long do I let it dry?

Who plays Walter White? | Bryan Cranston. | What else has he been in?
    I'm watching Breaking Bad. | Bryan Cranston is brilliant in it. | which other films is he in?

What is WebGPU? | An API for graphics in browsers. | Which browsers support it?
    How do I draw fast graphics on a page? | With WebGL or WebGPU. | I'll take WebGPU. | Good choice, WebGPU is modern. | which browsers support it?

My washing machine is leaking. | Check the door seal. | How do I replace it?
    There's water under my washing machine. | The door seal may be worn. | How do I replace it?

How tall is the Eiffel Tower? | 330 metres. | Can I climb it?
    We're in Paris for two days. | Go and see the Eiffel Tower. | Can we climb it?

What are the rules of squash? | You play to 11 points. | How big is the court?
    I tried squash yesterday. | Fun! Did you win? | No idea how to count. | In squash you play to 11 points. | how large is the court?

I have an appointment with Dr. Bauer. | Yes, on Tuesday at 9. | Can I move it?
    When do I see the dentist? | Your appointment with Dr. Bauer is on Tuesday at 9. | can we reschedule that?

What's the boiling temperature of tar? | Hmm, tar is a mixture; around 300 degrees. | Is it flammable?
    What is tar made of? | From coal or wood, tar is a sticky mixture. | Is it flammable?
"""

ANOTHER = """
Which laptop should I buy for video editing? | The Nimbus 16. | How long does the battery last?
    Which laptop should I buy for video editing? | The Corsa Pro. | How long does the battery last?

How do I prune roses? | Cut them back to three buds. | When do I fertilize them?
    How do I prune lavender? | Cut it back by a third. | When do I fertilize it?

What is a mortgage? | A loan that is secured by a house. | How long does it usually run?
    What is a car lease? | A contract to use a car for a monthly rate. | How long does it usually run?

Who directed Jaws? | Steven Spielberg. | What else did he direct?
    Who directed Alien? | Ridley Scott. | What else did he direct?

Is there a museum in Delft? | Yes, the Prinsenhof. | When does it open?
    Is there a museum in Gouda? | Yes, the cheese museum. | When does it open?

How do I install Docker on Debian? | Run apt install docker-ce. | How do I start it at boot?
    How do I install nginx on Debian? | Run apt install nginx. | How do I start it at boot?

My flight LX318 was cancelled. | I'm sorry, you can rebook it. | Can I get my money back?
    My flight LX320 was cancelled. | I'm sorry, you can rebook it. | Can I get my money back?

What does the red lamp mean? | The battery is empty. | Is that dangerous?
    What does the yellow lamp mean? | The oil is low. | Is that dangerous?

How do I wash a wool sweater? | By hand in cold water. | Can I put it in the dryer?
    How do I wash a silk blouse? | By hand in cold water. | Can I put it in the dryer?

I'd like to learn the guitar. | Great! Start with three chords. | How long will it take?
    I'd like to learn the violin. | Great! Start with open strings. | How long will it take?

My dog ate chocolate. | How much was it? | A whole bar. | Call the vet. | Is it dangerous?
    My dog ate a grape. | How much was it? | One. | Watch him for a day. | Is it dangerous?

Show me flights to Lima. | There are two on Monday. | Book the cheaper one.
    Show me flights to Quito. | There are two on Monday. | Book the cheaper one.

What's the capital of Peru? | Lima. | How many people live there?
    What's the capital of Chile? | Santiago. | How many people live there?

How long do I boil eggs? | Seven minutes. | And if they are from the fridge?
    How long do I boil potatoes? | Twenty minutes. | And if they are from the fridge?

Compare the Basic and the Plus plan. | Plus has more storage. | Which one includes support? I mean Basic. | Basic has mail support. | How much is it?
    Compare the Basic and the Plus plan. | Plus has more storage. | Which one includes support? I mean Plus. | Plus has phone support. | How much is it?

Summarize chapter 3. | It is about the voyage. | Who is the narrator there?
    Summarize chapter 5. | It is about the shipwreck. | Who is the narrator there?

My landlord keeps the deposit. | He must explain why. | What can I do?
    My landlord enters without asking. | He may not do that. | What can I do?

Is aspirin good for a cold? | It lowers fever. | What's the maximum dose?
    Is paracetamol good for a cold? | It lowers fever. | What's the maximum dose?

Who was Ada Lovelace? | She wrote the first program. | When did she die?
    Who was Grace Hopper? | She wrote the first compiler. | When did she die?

Explain inheritance in Java. | A class takes over members of another. | Show me an example.
    Explain generics in Java. | A class takes types as parameters. | Show me an example.

What is a black hole? | A region where gravity is so strong that light cannot escape. | How are they formed?
    What is a neutron star? | The dense core of a collapsed star. | How are they formed?

I need a hotel in Bath. | The Abbey is central. | Is breakfast included?
    I need a hotel in Bath. | The Francis is central. | Is breakfast included?

Add milk to my list. | Done. | Remove it again.
    Add rice to my list. | Done. | Remove it again.

I want to grow tomatoes on my balcony. | They need six hours of sun. | How often do I water them?
    We have a sunny balcony. | Great for herbs and tomatoes. | I'd rather have a fig tree. | A fig tree is happy on a sunny balcony, too. | How often do I water it?

Tell me about the moons of Saturn. | Titan is the largest one. | Does it have an atmosphere?
    What are the moons of Saturn? | There are over a hundred; Enceladus sprays water. | Does it have an atmosphere?

Which Beatles album is the best? | Many say Revolver. | When was it released?
    Which Beatles album should I start with? | Abbey Road is a fine start. | when did it come out?

I'm flying to Rome on Friday. | Have a nice trip! | Is there a train from the airport?
    I'm flying to Athens on Friday. | Have a nice trip! | Is there a train from the airport?

I spilled coffee on my keyboard. | Unplug it and turn it upside down. | How long should it dry?
    I dropped my phone into the sink. | Switch it off and take out the SIM card. | How long should it dry?

Set an alarm for 7. | Done. | Make it 10 minutes later.
    Set an alarm for 9. | Done. | Make it 10 minutes later.

How do I merge two branches in git? | Use git merge. | How do I undo that?
    How do I commit in git? | Use git commit. | How do I undo that?

What does my health insurance cover? | Doctors, hospitals and medicine. | How much is the deductible?
    What does my car insurance cover? | Damage to others. | How much is the deductible?

Who plays Walter White? | Bryan Cranston. | What else has he been in?
    Who plays Saul Goodman? | Bob Odenkirk. | What else has he been in?

I have an appointment with Dr. Bauer. | Yes, on Tuesday at 9. | Can I move it?
    I have an appointment with Dr. Stein. | Yes, on Tuesday at 11. | Can I move it?

Draft an email to the school. | Dear Ms Hale, Tom is ill today. | Make it shorter.
    Draft an email to my manager. | Dear Sam, I am ill today. | Make it shorter.

What's the best way to learn chess? | Play a lot and study endgames. | Is there an app for that?
    What's the best way to learn Spanish? | Talk a lot and read. | Is there an app for that?

What is HTTP/2? | A version of HTTP with streams. | Which browsers support it?
    What is WebGPU? | An API for graphics in browsers. | Which browsers support it?

My washing machine is leaking. | Check the door seal. | How do I replace it?
    My washing machine doesn't drain. | Check the pump. | How do I replace it?

How do I convert a string to an int in Java? | Integer.parseInt(s). | What if it is null?
    How do I convert a date to a string in Java? | Use a DateTimeFormatter. | What if it is null?

How tall is the Eiffel Tower? | 330 metres. | Can I climb it?
    How tall is Big Ben? | 96 metres. | Can I climb it?

Where can I park near the stadium? | In garage P3. | What does it cost?
    Where can I park near the station? | In garage P1. | What does it cost?

Can my cat eat tuna? | A little, now and then. | And every day?
    Can my cat drink milk? | Better not, many don't tolerate it. | And every day?

I want to send a parcel to Norway. | With DHL or by post? | Post | That's 15 euros up to 2 kilos. | How long will it take?
    I want to send a letter to Norway. | That's 1.25 euros. | How long will it take?

What are the rules of badminton? | You play to 21 points. | How big is the court?
    What are the rules of squash? | You play to 11 points. | How big is the court?
"""


def pairs(text: str) -> list[tuple[str, str]]:
    """Two chats a paragraph; a bar between messages, the last of which is the question."""
    found = [paragraph.strip().split("\n    ") for paragraph in text.strip().split("\n\n")]
    return [(one, other) for one, other in found]


def differ(one: str, other: str) -> bool:
    contexts = []
    for chat in (one, other):
        *before, question = chat.split(" | ")
        roles = ["assistant" if (len(before) - n) % 2 else "user" for n in range(len(before))]
        contexts.append(summarise(list(zip(roles, before, strict=True)), question))
    return isinstance(compare(*contexts), Difference)


def test_most_chats_about_one_thing_agree():
    refused = [pair for pair in pairs(SAME) if differ(*pair)]
    assert len(refused) <= 3, refused


def test_hardly_any_chats_about_two_things_agree():
    served = [pair for pair in pairs(ANOTHER) if not differ(*pair)]
    assert len(served) <= 1, served
