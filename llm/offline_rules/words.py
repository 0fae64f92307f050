"""Word lists of the offline rules, one for each class that a rule asks for; must not hold rules."""

import re


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text`; "_" within an entry stands for a space."""
    return frozenset(word.replace("_", " ") for word in text.split())


def _numbered(text: str, *, first: int) -> dict[str, int]:
    """Return word -> number for groups of words that are separated by "|"."""
    groups = enumerate(text.split("|"), start=first)
    return {word: number for number, group in groups for word in group.split()}


MONTHS = _numbered(
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec",
    first=1,
)
MONTH_NAMES = tuple(name.capitalize() for name in MONTHS if len(name) > 4 or name in {"may", "june", "july"})
WEEKDAYS = _numbered(
    "monday mon|tuesday tue tues|wednesday wed|thursday thu thurs|friday fri|saturday sat|sunday sun", first=0
)
NUMBERS = _numbered(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty",
    first=0,
) | {"a": 1, "an": 1, "couple": 2, "thirty": 30, "forty": 40, "fifty": 50}

FAMILY = word_set(
    "mother mom mum mommy mama father dad daddy papa parents parent brother sister siblings sibling son daughter child "
    "children kid kids baby toddler husband wife spouse partner boyfriend girlfriend fiance fiancé fiancee fiancée "
    "grandmother grandma granny nana grandfather grandpa grandad granddad grandparents aunt uncle cousin nephew niece "
    "stepson stepdaughter stepmother stepfather stepmom stepdad stepbrother stepsister mother-in-law father-in-law "
    "sister-in-law brother-in-law son-in-law daughter-in-law twins twin grandson granddaughter grandchild "
    "grandchildren "
    "newborn boys girls grandsons granddaughters grandmas grandpas brothers sisters sons daughters cousins nephews "
    "nieces "
    "grandkids godson goddaughter in-laws"
)
CIRCLE = word_set("friend roommate flatmate housemate neighbor neighbour buddy ex ex-wife ex-husband")
COLLEAGUES = word_set(
    "boss manager supervisor colleague coworker co-worker teammate assistant mentor therapist doctor dentist coach "
    "tutor "
    "teacher landlord client accountant lawyer advisor adviser trainer"
)
PETS = word_set(
    "dog dogs cat cats puppy puppies kitten kittens rabbit rabbits bunny hamster hamsters parrot parrots budgie "
    "budgies "
    "goldfish fish turtle tortoise horse horses pony guinea_pig guinea_pigs chickens hens snake gecko lizard ferret "
    "ferrets canary bird birds labrador poodle beagle dachshund retriever terrier corgi husky bulldog goat goats"
)
DIETS = word_set(
    "vegetarian vegan pescatarian flexitarian keto kosher halal gluten-free dairy-free lactose-free plant-based "
    "low-carb teetotal teetotaler teetotaller"
)
CONDITIONS = word_set(
    "diabetes asthma adhd add autism migraine migraines epilepsy arthritis insomnia dyslexia hypertension anemia "
    "anaemia "
    "eczema psoriasis celiac coeliac celiac_disease coeliac_disease crohn's crohn's_disease alzheimer's dementia "
    "long_covid chronic_fatigue endometriosis ibs tinnitus "
    "scoliosis depression anxiety ocd ptsd hypothyroidism high_blood_pressure low_blood_pressure type_1_diabetes "
    "type_2_diabetes hay_fever sleep_apnea a_pacemaker a_bad_back bad_knees a_bad_knee chronic_back_pain chronic_pain "
    "back_problems hearing_aids hemophilia parkinson's multiple_sclerosis ms glaucoma gout color_blindness"
)
HEALTH_WORDS = word_set(
    "diabetic celiac coeliac asthmatic autistic dyslexic epileptic anemic anaemic pregnant deaf blind colorblind "
    "colourblind color-blind colour-blind color_blind colour_blind "
    "left-handed right-handed left_handed ambidextrous nearsighted farsighted "
    "short-sighted hard_of_hearing neurodivergent"
)
STATUS = word_set("married single engaged divorced widowed separated")
WORK_STATUS = word_set(
    "retired unemployed self-employed self_employed freelance freelancing between_jobs on_parental_leave "
    "on_maternity_leave on_paternity_leave on_sabbatical semi-retired"
)
PHOBIAS = word_set(
    "heights spiders snakes flying dogs needles water crowds lightning thunder elevators clowns mice rats bees wasps "
    "deep_water the_dark the_dentist public_speaking enclosed_spaces small_spaces birds"
)
TRAITS = re.compile(
    r"(?:(?:an? )?(?:early bird|night owl|introvert|extrovert|perfectionist|minimalist|bookworm|foodie|homebody|"
    r"workaholic|morning person|night person|dog person|cat person|people person|visual learner|slow reader|"
    r"light sleeper|native speaker of \w+|non-native speaker|beginner|feminist|atheist|christian|muslim|buddhist|hindu|"
    r"catholic|protestant|quaker|pacifist|jew|sikh|mormon|"
    r"(?:big )?\w+ (?:lover|enthusiast|nerd|geek|buff|addict)))",
    re.IGNORECASE,
)
PARENT_OF = re.compile(
    r"(?:an? )?(?:proud |single |new |stay-at-home )*(?:mother|mom|mum|father|dad|parent|grandmother|grandfather)"
    r"(?: (?:of|to) [\w -]{1,30})?$",
    re.IGNORECASE,
)
JOB_WORDS = word_set(
    "nurse teacher schoolteacher doctor engineer developer dev programmer designer manager student lawyer attorney "
    "accountant chef cook "
    "baker waiter waitress bartender barista pilot captain sailor soldier officer policeman firefighter paramedic "
    "pharmacist dentist surgeon physician vet veterinarian therapist psychologist psychiatrist counselor counsellor "
    "consultant analyst architect scientist researcher professor lecturer tutor librarian journalist reporter writer "
    "author novelist poet editor translator interpreter photographer filmmaker director producer actor actress singer "
    "musician pianist cellist violinist guitarist drummer composer conductor painter illustrator artist sculptor "
    "potter "
    "carpenter plumber electrician mechanic welder mason roofer builder contractor farmer gardener florist beekeeper "
    "hairdresser barber tailor seamstress cleaner janitor driver trucker courier postman mailman cashier salesman "
    "saleswoman salesperson marketer recruiter secretary receptionist clerk banker broker trader economist actuary "
    "statistician mathematician physicist chemist biologist geologist astronomer historian archaeologist "
    "anthropologist sociologist linguist philosopher ceo cto cfo coo cmo founder cofounder co-founder entrepreneur "
    "freelancer intern apprentice trainee undergraduate postdoc principal coach trainer referee athlete midwife "
    "optician optometrist physiotherapist physio radiologist cardiologist dermatologist pediatrician paediatrician "
    "anesthetist anaesthetist judge paralegal politician diplomat priest pastor imam rabbi nun monk sysadmin sre "
    "devops "
    "tester administrator technician machinist operator planner surveyor buyer auditor bookkeeper housewife homemaker "
    "stay-at-home_mom stay-at-home_dad caregiver carer nanny babysitter firewoman fireman postwoman butcher fisherman "
    "brewer winemaker sommelier jeweler jeweller watchmaker locksmith lifeguard flight_attendant steward model "
    "dancer choreographer comedian magician streamer blogger youtuber podcaster strategist specialist supervisor lead "
    "coordinator advisor adviser agent realtor estimator inspector ranger guard detective investigator curator "
    "conservator restorer animator cartoonist copywriter proofreader typist webmaster maintainer hacker pensioner "
    "retiree sophomore freshman senior junior veteran nutritionist dietitian instructor educator headteacher"
)
JOB_ADJECTIVES_BAD = word_set(
    "bad terrible good great huge big total complete bit real horrible lazy lousy awful decent slow quick fast born "
    "natural amazing better worse best worst wannabe secret hopeless failed would-be little careful poor excellent "
    "nice "
    "happy sad proud lucky pretty harsh light heavy deep sound hard fellow bigger large small keen avid regular mere"
)
POSSESSIONS = word_set(
    "car bike bicycle motorcycle motorbike scooter boat sailboat canoe kayak van camper campervan truck house "
    "apartment "
    "flat condo cottage cabin garden allotment greenhouse piano guitar violin cello ukulele saxophone drum_kit camera "
    "laptop macbook desktop computer pc phone iphone tablet ipad kindle telescope drone 3d_printer sewing_machine "
    "record_player turntable synthesizer keyboard e-bike nas home_server raspberry_pi blog podcast newsletter "
    "youtube_channel website bakery restaurant shop store cafe farm company startup business license licence pool "
    "wood_stove balcony vineyard beehives tesla thinkpad playstation xbox nintendo_switch switch"
)
DEVICES = word_set(
    "laptop phone computer car bike tablet camera keyboard monitor editor ide browser shell terminal os guitar piano "
    "printer router watch truck van motorcycle desktop pc distro console headphones"
)
SECRET_NOUNS = re.compile(
    r"\b(?:pass(?:word|code|phrase|port)s?|pin|e-?mails?(?: address)?|phone number|mobile number|number is|address|"
    r"credit card|debit card|card number|iban|ssn|social security|account number|api key|token|secret|license plate|"
    r"licence plate|login|username|wifi key)\b",
    re.IGNORECASE,
)
COUNTRIES = word_set(
    "afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahrain bangladesh "
    "belarus belgium belize benin bhutan bolivia bosnia botswana brazil bulgaria cambodia cameroon canada chad chile "
    "china colombia congo costa_rica croatia cuba cyprus denmark ecuador egypt el_salvador england eritrea estonia "
    "ethiopia fiji finland france gabon gambia georgia germany ghana greece guatemala guinea haiti honduras hungary "
    "iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait laos "
    "latvia lebanon liberia libya liechtenstein lithuania luxembourg madagascar malawi malaysia mali malta mauritius "
    "mexico moldova mongolia montenegro morocco mozambique myanmar namibia nepal netherlands the_netherlands "
    "new_zealand nicaragua niger nigeria norway oman pakistan palestine panama paraguay peru philippines "
    "the_philippines poland portugal qatar romania russia rwanda saudi_arabia scotland senegal serbia slovakia "
    "slovenia "
    "somalia south_africa south_korea korea spain sri_lanka sudan sweden switzerland syria taiwan tanzania thailand "
    "tunisia turkey uganda ukraine uruguay usa us the_us the_usa uk the_uk united_kingdom the_united_kingdom "
    "united_states the_united_states uzbekistan venezuela vietnam wales yemen zambia zimbabwe"
)
NATIONALITIES = word_set(
    "american argentinian argentine australian austrian bangladeshi belgian bolivian brazilian british bulgarian "
    "canadian chilean chinese colombian croatian cuban czech danish dutch ecuadorian egyptian english estonian "
    "ethiopian "
    "filipino finnish french georgian german ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish "
    "israeli italian jamaican japanese jordanian kenyan korean latvian lebanese lithuanian malaysian mexican moroccan "
    "nepali nigerian norwegian pakistani palestinian peruvian polish portuguese romanian russian scottish serbian "
    "slovak slovenian spanish swedish swiss syrian taiwanese thai tunisian turkish ukrainian vietnamese welsh"
)
LANGUAGES = word_set(
    "afrikaans albanian amharic arabic armenian basque bengali bulgarian cantonese catalan chinese croatian czech "
    "danish "
    "dutch english esperanto estonian farsi finnish flemish french galician georgian german greek gujarati hebrew "
    "hindi "
    "hungarian icelandic indonesian irish italian japanese korean kurdish latin latvian lithuanian malay mandarin "
    "marathi nepali norwegian persian polish portuguese punjabi romanian russian serbian slovak slovenian somali "
    "spanish "
    "swahili swedish tagalog tamil telugu thai turkish ukrainian urdu vietnamese welsh yoruba zulu asl sign_language"
)
TOOLS = word_set(
    "vim neovim nvim emacs vscode vs_code tmux zsh fish_shell docker podman kubernetes k8s postgres postgresql "
    "mysql sqlite "
    "redis git python rust golang typescript javascript react vue svelte django flask fastapi rails nixos nix arch "
    "debian "
    "ubuntu fedora linux macos windows android ios notion obsidian trello jira linear slack teams excel anki ansible "
    "terraform jenkins kafka pytest ruff poetry uv pandas numpy pytorch blender figma photoshop lightroom ableton latex"
)
INSTRUMENTS = word_set(
    "piano guitar violin viola cello drums bass flute clarinet saxophone sax trumpet trombone harp organ accordion "
    "banjo ukulele mandolin harmonica oboe bassoon keyboard recorder sitar"
)
PRONOUNS = word_set(
    "it its it's this that these those them they he she him his her hers you your yours yourself one ones something "
    "anything everything nothing someone somebody anyone everyone everybody what how why whatever thing things stuff "
    "same both such there here someplace somewhere i"
)
VAGUE = word_set(
    "idea ideas way ways suggestion suggestions advice feeling feelings part parts point question questions problem "
    "problems fun time moment moments lot bit kind sort answer answers reply response tip tips recommendation "
    "recommendations sound look fact chat conversation conversations help day week today movie book story song music's "
    "experience characters plot ending scenery atmosphere all none some any much many more most well"
)
# Nouns that name a class of things; without a word that tells which, a fact about one is worth nothing.
EMPTY_NOUNS = word_set(
    "activity activities place places spot spots city cities town towns area areas region regions company companies "
    "firm firms organization organisation organizations corporation employer industry sector field task tasks project "
    "projects skill skills topic topics subject subjects event events experience experiences item items object objects "
    "product products cuisine option options hobby hobbies interest interests role position group course courses "
    "program programs habit habits detail details aspect aspects element elements feature features method methods "
    "technique techniques style styles genre genres piece pieces category categories sort sorts kind kinds type types "
    "matter matters situation situations issue issues content material materials information knowledge"
)
# Words before such a noun that do not tell which one is meant.
EMPTY_MODIFIERS = word_set(
    "a an the some any many several various different other another more most own good great nice interesting fun "
    "exciting cool new small big large little local certain few lot lots of all sorts kinds types kind type really "
    "very better best similar specific particular special current meaningful useful simple my our their your its this "
    "these those such fresh unique"
)
# Verbs whose object is the whole news: "learning some skills" says no more than "some skills".
EMPTY_VERBS = word_set(
    "learn learning try trying do doing have having get getting take taking use using find finding know knowing "
    "explore work working"
)
FREQUENCY = re.compile(
    r"\b(?:\w+ (?:days|nights|mornings|evenings|afternoons|hours) (?:a|per|every) (?:day|week|month|year)|"
    r"(?:every|each) (?:single |other |second )?(?:day|morning|evening|afternoon|night|week|month|year|weekend|"
    r"summer|winter|spring|autumn|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunch|hour|"
    r"few \w+|\w+ (?:days|weeks|months|hours))|(?:once|twice|\w+ times|several times|a few times) (?:a|per|every) "
    r"(?:day|week|month|year)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?:s)\b|(?:on )?weekends|"
    r"on weekdays|daily|weekly|monthly|a day|per day|a week|in my (?:free|spare) time|in the (?:mornings?|evenings?|"
    r"afternoons?)|at night|"
    r"(?:most|all) (?:days|nights|mornings|evenings|weekends)|from home|before (?:work|bed|breakfast)|after (?:work|"
    r"dinner))\b",
    re.IGNORECASE,
)
CLOCK = re.compile(
    r"\b(?:at )?\d{1,2}(?:[:.h]\d{2})? ?(?:am|pm|a\.m\.|p\.m\.|o'clock|uhr|cet|utc|est|pst)?\b|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)
WEEKDAY = re.compile(rf"\b(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})s?\b", re.IGNORECASE)
MONTH = re.compile(rf"\b(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b", re.IGNORECASE)
BIRTH_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
