"""The word lists of the guards: short, readable, English."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a list that is written for reading."""
    return frozenset(text.split())


def _numbered(text: str, start: int = 0, step: int = 1) -> dict[str, int]:
    return {word: start + n * step for n, word in enumerate(text.split())}


NUMERALS = {
    **_numbered(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ),
    **_numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
}
MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
               "trillion": 10**12}  # fmt: skip
SUFFIXES = {"k": 1000, "m": 10**6, "bn": 10**9, "万": 10**4, "亿": 10**8, "千": 1000, **MULTIPLIERS}
ORDINALS = _numbered("first second third fourth fifth sixth seventh eighth ninth tenth", 1)
MONTHS = {
    **_numbered("january february march april may june july august september october november "
                "december", 1),
    **_numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1), "sept": 9,
}  # fmt: skip
MONTH_OR_WORD = words("may march mar dec jan jun")
ROMAN = _numbered("ii iii iv v vi vii viii ix x xi xii xiii xiv xv", 2)

UNITS = {
    spelling: unit
    for unit, spellings in {
        "%": "% percent pct per-cent",
        "usd": "$ usd dollar dollars bucks 美元 美金",
        "eur": "€ eur euro euros 欧元",
        "gbp": "£ gbp pounds-sterling 英镑", "jpy": "¥ jpy yen 日元",
        "cny": "cny rmb yuan 元 块 块钱 人民币", "inr": "₹ inr rupee rupees rs 卢比",
        "km": "km kms kilometer kilometers kilometre kilometres 公里 千米",
        "mile": "mile miles mi 英里", "m": "meter meters metre metres 米",
        "cm": "cm centimeter centimeters centimetre centimetres 厘米 公分", "mm": "mm 毫米",
        "inch": "inch inches 英寸", "ft": "ft foot feet 英尺", "yard": "yard yards",
        "kg": "kg kgs kilo kilos kilogram kilograms 公斤 千克", "g": "g gram grams 克",
        "mg": "mg 毫克", "lb": "lb lbs pound pounds 磅", "oz": "oz ounce ounces", "斤": "斤",
        "l": "l liter liters litre litres 升", "ml": "ml 毫升", "gal": "gallon gallons",
        "second": "sec secs seconds 秒", "minute": "min mins minute minutes 分钟",
        "hour": "hr hrs hour hours 小时 钟头", "day": "day days 天", "week": "week weeks 周 星期",
        "month": "month months 个月", "year": "year years yr yrs", "am": "am a.m", "pm": "pm p.m",
        "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "celsius": "°c celsius c 摄氏度",
        "fahrenheit": "°f fahrenheit f 华氏度",
    }.items()
    for spelling in spellings.split()
}  # fmt: skip

NEGATORS = words(
    "not no never without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt "
    "shouldnt couldnt hasnt havent hadnt aint nor neither none nobody nothing nowhere"
)
# Either word or either list of words, by stem: the answer to one does not answer the other.
OPPOSITES: tuple[tuple[list[str], list[str]], ...] = tuple(
    (one.split("|"), other.split("|"))
    for pair in """
    on/off open/close|closed|shut enable|activate/disable|deactivate
    allow|permit|allowed/deny|forbid|block|prevent|prohibit|disallow|ban|forbidden
    safe/unsafe|dangerous with/without legal/illegal true/false start|begin/stop|end|finish|quit
    install/uninstall add|create|insert/remove|delete buy|purchase/sell
    increase|raise|boost/decrease|reduce|lower before/after left/right best/worst good/bad
    pros|advantages|advantage/cons|disadvantages|disadvantage
    max|maximum|maximize/min|minimum|minimize highest|high/lowest|low hot/cold more/less|fewer
    most/least always/never upload/download import/export encrypt/decrypt encode/decode
    upgrade/downgrade lock/unlock follow/unfollow subscribe/unsubscribe|cancel
    connect/disconnect male|man|men|boy|boys/female|woman|women|girl|girls
    husband|boyfriend/wife|girlfriend father|dad/mother|mom son/daughter brother/sister win/lose
    gain/lose love/hate push/pull accept|approve/reject|decline|refuse include/exclude
    public/private input/output ascending/descending first/last oldest/newest
    cheap|cheapest/expensive borrow/lend send/receive arrive|arrival/depart|departure
    inside/outside above/below mount/unmount show/hide visible/hidden|invisible mute/unmute
    pass/fail positive/negative internal/external early/late morning/evening|night debit/credit
    summer/winter possible/impossible dead/alive strong/weak fast/slow rich/poor
    hard|difficult/easy tall|long/short big|large/small introvert/extrovert login/logout
    signin/signout online/offline horizontal/vertical synchronous|sync/asynchronous|async
    old/new|young happy/sad|unhappy correct/incorrect|wrong single/married incoming/outgoing
    deposit/withdraw|withdrawal expand/collapse north/south east/west northern/southern
    rise|rising|rose/fall|falling|fell|drop|dropping
    eastern/western wet/dry thick/thin success|succeed/failure|fail light/dark|heavy
    he|him|his/she|her|hers over/under|most larger|bigger|greater|higher/smaller|lower
    largest|biggest/smallest earlier|sooner/later earliest/latest longer|taller/shorter
    longest|tallest/shortest next/previous|last better/worse older/younger faster/slower
    fastest/slowest easier/harder easiest/hardest cheaper/dearer heavier/lighter
    """.split()
    for one, other in [pair.split("/")]
)

PARTICLES = {"in": "out", "up": "down"}
PARTICLE_VERBS = words("log sign check opt clock zoom scale roll turn shut back plug fade lock")

FIRST_NAMES = words(
    "james john robert michael william david richard joseph thomas charles christopher daniel "
    "matthew anthony donald steven steve paul andrew joshua kenneth kevin brian george edward "
    "ronald timothy jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin "
    "scott brandon benjamin samuel gregory alexander patrick raymond dennis jerry tyler aaron "
    "jose adam nathan henry douglas peter zachary kyle walter ethan jeremy harold keith roger "
    "noah gerald terry sean arthur juan austin bryan louis dylan alan ralph gabriel logan albert "
    "elijah wayne vincent philip bobby johnny bradley lucas oscar mary patricia jennifer linda "
    "elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly "
    "emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia "
    "dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine "
    "christine debra rachel carolyn janet maria olivia heather helen catherine diane julie "
    "victoria joyce lauren kelly christina evelyn judith andrea hannah megan cheryl jacqueline "
    "martha madison teresa gloria sara janice ann kathryn abigail sophia frances alice judy "
    "isabella julia denise danielle marilyn natalie sofia lucy ella clara ahmed mohammed ali omar "
    "fatima ravi rahul priya anil sanjay carlos luis pedro hans klaus sven ivan olga natasha yuki "
    "kenji carla rosa daniela martin emilia lena pierre marie sophie giulia luca"
)
"""Names that are hardly ever anything else, so that they are known without a capital."""

CLASSES: tuple[frozenset[str], ...] = (
    FIRST_NAMES,
    words("christian muslim jewish hindu buddhist atheist catholic protestant sikh mormon"),
    words(
        "american british french german spanish italian portuguese dutch russian chinese japanese "
        "korean indian pakistani canadian australian brazilian mexican turkish polish swedish "
        "greek irish scottish egyptian nigerian kenyan ethiopian iranian israeli ukrainian "
        "armenian argentinian cuban danish norwegian finnish swiss austrian belgian hungarian "
        "vietnamese thai"
    ),
    words("monday tuesday wednesday thursday friday saturday sunday"),
    words("today tomorrow yesterday tonight"),
    words(
        "english french german spanish italian portuguese dutch russian chinese japanese korean "
        "arabic hindi turkish polish swedish greek hebrew thai vietnamese latin urdu bengali"
    ),
    words("eur usd gbp jpy cny inr chf cad aud euro euros dollar dollars yen rupee rupees yuan"),
    words(
        "python java javascript typescript rust ruby php golang kotlin swift scala perl haskell "
        "c++ c# julia matlab fortran cobol r"
    ),
    words("mysql postgresql postgres sqlite mongodb oracle redis mariadb cassandra elasticsearch"),
    words("linux windows macos ubuntu debian fedora android ios iphone"),
    words("aws azure gcp"),
    words("hour day week month quarter year decade century"),
    words(
        "free basic starter standard plus pro premium ultimate enterprise business team personal "
        "family student"
    ),
    words("red blue green yellow black white purple orange pink brown grey"),
    words("spring summer autumn winter"),
    words("breakfast lunch dinner"),
    words("kitchen bedroom bathroom garage hallway basement attic garden"),
    words("northern southern eastern western"),
    words("mercury venus mars jupiter saturn uranus neptune pluto"),
    words(
        "china india japan germany france italy spain canada australia brazil mexico russia "
        "england ireland scotland nigeria kenya egypt israel iran iraq pakistan bangladesh nepal "
        "indonesia malaysia singapore thailand vietnam korea turkey greece poland sweden norway "
        "denmark finland switzerland austria hungary portugal argentina chile colombia usa uk"
    ),
    words(
        "london paris berlin rome madrid oslo tokyo osaka beijing shanghai delhi mumbai bangalore "
        "chennai hyderabad kolkata pune sydney melbourne toronto chicago boston seattle moscow "
        "dubai istanbul vienna lisbon dublin amsterdam munich hamburg milan"
    ),
)
ALIASES = {
    "postgres": "postgresql", "js": "javascript", "ts": "typescript", "k8s": "kubernetes",
    "us": "usa", "u.s": "usa", "u.s.a": "usa", "america": "usa", "u.k": "uk", "britain": "uk",
    "euros": "eur", "euro": "eur", "dollars": "usd", "dollar": "usd", "yen": "jpy", "yuan": "cny",
    "hours": "hour", "hourly": "hour", "days": "day", "daily": "day", "weeks": "week",
    "weekly": "week", "months": "month", "monthly": "month", "quarters": "quarter",
    "quarterly": "quarter", "years": "year", "yearly": "year", "annual": "year",
    "annually": "year", "rmb": "cny", "rupees": "inr", "rupee": "inr", "fb": "facebook",
    "yt": "youtube",
    "east": "eastern", "west": "western", "north": "northern", "south": "southern",
    "gray": "grey", "ig": "instagram", "golang": "go", "nyc": "york", "2fa": "two-factor",
}  # fmt: skip

STOPWORDS = words(
    "a an the is are was were be been being am do does did doing have has had i you he she it we "
    "they me him her us them my your his its our their this that these those what which who whom "
    "whose when where why how can could will would shall should may might must of in on at for to "
    "from by with about as and or if then so than too very just please there here s t into any "
    "some get got much many out up s"
)
DIRECTIONS = words("from to into onto than before after over against under by")
SYMMETRIC = words("and or vs versus & with between both either plus is are was were be")
LANGUAGES = {
    "en": words("the is are what how do does of in to and can i my for why which who when where "
                "you a it should would not"),
    "fr": words("le la les est sont que quel quelle comment je mon ma du des une pour dans qui où "
                "pourquoi est-ce vous et avec sur peut"),
    "de": words("der die das ist sind was wie ich mein meine ein eine und für wo warum wer kann "
                "nicht mit auf von zu den"),
    "es": words("el los las es son qué que cómo como mi una y para dónde donde por quién puedo con "
                "del cuál en"),
    "it": words("il lo gli è sono che cosa come mio mia una per dove perché chi posso con del "
                "della di"),
    "pt": words("o os é são que como meu minha um uma para onde porque quem posso com da em "
                "qual não"),
    "nl": words("de het is zijn wat hoe ik mijn een en voor waar waarom wie kan niet met op van"),
}  # fmt: skip
