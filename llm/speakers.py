"""Take out of a message what its writer says in another's voice (E04a); must not judge what she says in her own.

A label gives a passage to somebody ("My brother: I hate football"), a phrase puts on a voice ("as my boss would say,
..."), and an invitation to play turns all that follows into fiction. Labels that only order what the writer says
("Update: I moved") leave it hers. English, German, French and Spanish, with the commonest words of their neighbors.
"""

import re
from typing import Final

MAX_LABEL: Final = 70  # characters before the colon; a longer run is a sentence
MAX_LABEL_WORDS: Final = 8


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Whoever can be given words. A label is a person's when one of these is its head, or when it is a name.
_PEOPLE: Final = _words(
    """
    mother mom mum mommy mama father dad daddy papa parents parent brother sister siblings sibling son daughter child
    children kid kids baby toddler husband wife spouse partner boyfriend girlfriend fiance fiancé fiancee fiancée
    grandmother grandma granny nana grandfather grandpa granddad grandparents aunt auntie uncle cousin nephew niece
    stepmother stepfather stepmom stepdad mother-in-law father-in-law sister-in-law brother-in-law twin grandson
    granddaughter brothers sisters sons daughters cousins friend friends roommate flatmate housemate neighbor neighbour
    neighbors neighbours buddy mate ex boss manager supervisor colleague colleagues coworker coworkers co-worker
    teammate mentor therapist doctor gp nurse dentist coach tutor teacher professor landlord landlady tenant client
    customer patient student pupil guest host lawyer accountant trainer recruiter interviewer interviewee candidate
    employee employer reporter journalist author narrator character hero heroine villain protagonist speaker caller
    stranger guy man woman lady gentleman boy girl person someone somebody everyone everybody anybody people others
    they he she him pirate wizard king queen robot chatbot bot assistant user human agent support operator system
    chatgpt claude gemini siri alexa vendor seller buyer waiter driver officer priest pastor president minister
    celebrity singer actor influencer commenter poster op reviewer
    mutter mama mutti vater papa vati eltern bruder schwester geschwister sohn tochter kind kinder mann frau ehemann
    ehefrau partnerin freund freundin freunde verlobter verlobte oma opa großmutter großvater grossmutter grossvater
    tante onkel cousine neffe nichte schwiegermutter schwiegervater schwager schwägerin mitbewohner mitbewohnerin
    nachbar nachbarin chef chefin kollege kollegin kollegen arzt ärztin lehrer lehrerin kunde kundin patientin jemand
    alle leute er kumpel trainerin vermieter vermieterin
    mère mere maman père pere parents frère frere sœur soeur fils fille enfant enfants mari femme époux épouse copain
    copine ami amie amis fiancé grand-mère grand-père mamie papi tante oncle cousine neveu nièce beau-père belle-mère
    colocataire voisin voisine patron patronne collègue collègues médecin docteur prof professeur client cliente
    quelqu'un il elle ils elles
    madre mamá padre papá padres hermano hermana hermanos hermanas hijo hija hijos marido esposo esposa mujer novio
    novia pareja amigo amiga amigos abuela abuelo tía tío primo prima sobrino sobrina suegra suegro compañero compañera
    vecino vecina jefe jefa colega médico doctora profesor profesora cliente paciente alguien él ella ellos ellas
    fratello sorella moglie marito nonna nonno amico amica capo collega irmão irmã mãe pai avó avô chefe broer zus
    moeder vader oma opa vriend vriendin baas brat siostra matka ojciec babcia szef
    """
)
# Labels under which the writer goes on in her own voice. Whoever is not in here and takes the first person is a name.
_OWN: Final = _words(
    """
    why how what where when who diagnosis headline timezone commute height weight dietary restrictions backstory
    i me myself mine us ourselves note notes nb update updates info information context background summary
    intro introduction fact facts reminder correction edit edited addendum ps p.s pps p.p.s btw fyi tldr tl;dr psa eta
    imo imho aka re news question questions answer reason reasons disclaimer confession issue situation status
    goal goals plan plans wish dream dreams job work career profession occupation role title employer company education
    school studies degree major hobby hobbies interest interests passion home house location city town country place
    address origin hometown family pets pet kids children name nickname pronouns age birthday language languages
    diet food drinks health allergy allergies intolerance intolerances medication meds condition conditions
    preference preferences like likes dislike dislikes favorites favourites pro pros con cons strength strengths
    weakness weaknesses skill skills experience project projects tools setup stack schedule routine habit habits budget
    today tomorrow yesterday tonight now currently lately recently monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december morning evening
    weekends weekdays spring summer autumn fall winter first second third firstly secondly lastly finally also plus
    remember important warning caution spoiler honestly actually seriously basically truth honest bottom short long
    thing point problem clarification details detail profile bio history past present future result conclusion reply
    response feedback opinion thoughts thought mood personality religion travel transport transportation vehicle car
    devices phone computer music books movies sports sport exercise sleep food breakfast lunch dinner politics
    good bad great big quick small fun random full extra additional other another more basics requirement requirements
    constraint constraints wait ok okay well so and but hi hello hey thanks please yes no sure right guess case topic
    subject heads heads-up
    ich mir mich hinweis notiz nachtrag korrektur beruf arbeit wohnort wohnung stadt land familie haustiere alter
    ernährung essen allergie allergien gesundheit sprache sprachen ziel ziele wunsch übrigens wichtig kurz kurzinfo
    frage antwort grund problem hobbys studium ausbildung schule verkehr heute morgen gestern jetzt neu neues montag
    dienstag mittwoch donnerstag freitag samstag sonntag achtung fazit erinnerung vorlieben abneigungen hintergrund
    ergänzung geburtstag herkunft musik reisen bitte ja nein also
    je moi m précision rappel ville pays métier travail famille santé allergies langue langues prénom nom âge objectif
    remarque mise actu nouvelle nouvelles contexte profil loisirs régime goûts aujourd'hui hier maintenant demain
    question réponse raison important bref études projet merci oui non
    yo mí nota actualización aclaración dato datos ciudad país trabajo profesión oficio salud alergia alergias idioma
    idiomas nombre edad meta metas recordatorio importante gustos aficiones comida dieta hoy ayer ahora mañana
    contexto pregunta respuesta razón resumen estudios proyecto gracias sí
    io eu ik ja info
    """
)
# Common nouns by their ending: "Relocation: I moved" and "Ausbildung: ich lerne noch" name a subject and no speaker.
_SUBJECT_ENDING: Final = re.compile(
    r"(?:tions?|sions?|ments?|ness|ship|ings?|ities|ity|ology|ances?|ences?|ungen|ung|heit|keit|schaft|tät|ción|dad|"
    r"miento|ité|age)$"
)
_DETERMINERS: Final = _words(
    "my our your his her their the a an this that some one another mein meine meiner meinem meinen unser unsere der "
    "die das ein eine sein seine ihr ihre mon ma mes notre nos le la les un une son sa mi mis nuestro nuestra el los "
    "las una su mio mia il lo meu minha mijn moj moja mój"
)
_FROM: Final = _words("from by per via von vom laut par selon según de")
# Behind these a person is not the one who speaks: "Dinner with my brother: I loved it".
_ABOUT: Final = _words(
    "with for to about and or of at in on as than re regarding dear without versus vs near mit für über zu an bei und "
    "oder als ohne liebe lieber avec pour sur à et ou chez sans cher chère con para sobre y o sin querido querida"
)
_NAME_PARTICLES: Final = _words("de da del della di van von der den la le el bin al")
_STAMP: Final = re.compile(
    r"^[\s\-*•>]*(?:[\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]m)?[\])]?,?\s*-?\s*)?", re.IGNORECASE
)
_COLON: Final = re.compile(r"[:：](?=\s|$|[^\W\d_]|[\"'“„«‘’*_¡¿])")
_LABELING: Final = re.compile(r"[:：,*(\[]")
_BRACKETED: Final = re.compile(r"^\s*[<\[](?P<label>[^\W\d_][^<>\[\]\n]{0,30})[>\]]\s+(?P<said>\S.*)$")
_SENTENCE_END: Final = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+")
_FIRST_PERSON: Final = re.compile(
    r"^[\"'“”„«‘’(*_¡¿\s]*(?:(?:me|mi|mis|ma|mes|mon|nos) \w|(?:[^\W\d_]+[,!.…-]*\s+){0,2}"
    r"(?:i|i['’](?:m|ve|d|ll)|im|ive|we|we['’]\w+|my|our|ich|wir|mein\w{0,2}|unser\w{0,2}|je|j['’]\w+|nous|yo|soy|estoy"
    r"|tengo|vivo|trabajo|odio|amo|adoro|quiero|prefiero|hablo|nací|somos|tenemos|vivimos|io|eu|sou|tenho|moro|ik|"
    r"jestem|mieszkam)\b)",
    re.IGNORECASE,
)
_ANOTHER: Final = (
    r"(?:(?:my|our|your|his|her|their|meine?[mnr]?|unsere?[mnr]?|mon|ma|mes|notre|mis?|nuestr[oa])\b|(?-i:[A-Z]\w+))"
)
# Up to the next blank line somebody else is speaking.
_VOICE: Final = re.compile(
    rf"\b(?:speaking|writing|talking|typing|answering|posting|replying|here|this is me) (?:here )?as {_ANOTHER}"
    rf"[^.!?:,\n]{{0,40}}[:,]"
    rf"|\b(?:speaking|writing|asking|answering|typing) (?:this )?(?:for|on behalf of) (?:a friend|{_ANOTHER})"
    rf"[^.!?:,\n]{{0,40}}[:,]|^\W*as (?:my|our|your|his|her|their) [\w' -]{{2,40}}:"
    r"|\b(?:in|with|using) (?:the |an? )?(?:\w+ )?(?:voice|words|persona|role|character|tone) of (?!mine\b|my own\b)"
    r"[^.!?:,\n]{1,50}[:,]|^\W*me,? as an? [^.!?:,\n]{2,40}[:,]|[*(\[]as (?!i\b|we\b|my own"
    r"|myself)[^*)\]\n]{2,30}[*)\]] "
    r"|\bin (?:my|our|his|her|their|the|an?) [\w ]{2,30}?['’]s?['’]? (?:voice|words)[:,]"
    r"|\b(?:from|through) (?:the )?(?:perspective|point of view|pov|viewpoint|eyes|view) of (?!mine\b|someone who\b)"
    r"[^.!?:,\n]{1,50}[:,]|\b(?:on behalf of|in the name of|quoting|imitating|impersonating|channell?ing) "
    r"(?!me\b|myself\b)[^.!?:,\n]{2,40}:"
    r"|\b(?:im namen|in der rolle|mit der stimme|mit den worten|aus (?:der )?sicht|aus (?:der )?perspektive) "
    r"(?!von mir\b)[^.!?:,\n]{2,50}[:,]|^\W*(?:ich spreche (?:hier )?|hier (?:spricht|schreibt) )(?:als |für )?"
    r"(?:meine?[mn]?|unsere?[mn]?|der|die) [^.!?:,\n]{2,40}[:,]|^\W*als (?:meine?|unsere?) [^.!?:,\n]{2,40}"
    r"(?::| gesprochen[,:])"
    r"|\b(?:au nom|du point de vue|à la place|dans le rôle|avec la voix|dans la peau|avec les mots) (?:de|du|d['’]) ?"
    r"(?!moi\b)[^.!?:,\n]{2,50}[:,]|^\W*en tant que (?:mon|ma|mes|notre) [^.!?:,\n]{2,40}[:,]"
    r"|\b(?:en nombre|desde el punto de vista|con la voz|en el papel|con las palabras|en la piel) (?:de|del) (?!mí\b)"
    r"[^.!?:,\n]{2,50}[:,]|^\W*(?:hablando |escribo )?como (?:mi|nuestr[oa]) [^.!?:,\n]{2,40}:",
    re.IGNORECASE,
)
# The sentence is a saying of somebody else's.
_AS_THEY_SAY: Final = re.compile(
    r"\b(?:as|like|to quote) (?!I\b|we\b)[^,.:;!?\n]{1,40}? (?:(?:would|always|used to|often|likes? to|loves? to|might|"
    r"constantly|keeps?|never tires of) (?:say|says|said|saying|tell|tells|put it|puts it|joke|jokes|sing|sings|claim)|"
    r"says?)\b(?: \w+){0,3}[,:.!]?|\bwie (?!ich\b|wir\b)[^,.:;!?\n]{1,40}? (?:(?:immer|gerne?|stets|oft) "
    r"(?:sagt|sagte)|sagen würden?|zu sagen pflegt|sagte?)\b"
    r"|\bcomme (?:le |aime à )?(?:dirait|diraient|dit|disait|disent|dire) (?!moi\b)"
    r"|\bcomo (?:siempre )?(?:diría|dirían|dice|decía|dicen) (?!yo\b)",
    re.IGNORECASE,
)
# From here on everything is a game.
_PLAY: Final = re.compile(
    r"^\W*(?:(?:ok|okay|now|so|hey|please|just|for fun|hi|alright|today)\b[, ]*)*"
    r"(?:(?:let['’]?s |let us |can we |could we |shall we |wanna |we )?(?:do (?:a|some) |start a |play a )?"
    r"role[- ]?play(?:ing)?(?: (?:time|mode|scene|scenario|game|prompt))?(?:[:;,.!)\]]|$| (?:as|that|where|with)\b)"
    r"|(?:let['’]?s |let us )?(?:pretend|make believe|suppose|imagine(?! that[:,!.])) "
    r"(?:that |for a \w+ (?:that )?)*(?:i|i['’]m|i['’]ve|you|you['’]re|we|we['’]re|my|our|to be|a|an|the)\b"
    r"|let['’]?s (?:play|say|assume)\b|act as (?:if|though) i\b"
    r"|(?:in character|scene|scenario|hypothetical(?:ly)?|fiction|example|sample|sample text|example sentence|"
    r"my character|template|lyrics|dialog(?:ue)?|monolog(?:ue)?|script|persona|prompt) ?:"
    r"|(?:lass(?:t)? uns )?(?:rollenspiel\b|stell(?:t)? (?:dir|euch) vor|stellen sie sich vor|tu(?:n wir)? (?:mal )?so|"
    r"nehmen wir an|nimm an|beispiel(?:satz)?:|angenommen)"
    r"|(?:jeu de rôle|imagin(?:e|ez|ons) (?:que|qu['’])|fais(?:ons)? (?:semblant|comme si)|supposons|"
    r"exemple ?:)|(?:juego de rol|imag[ií]n(?:a|ate|emos) que|fing(?:e|ir|amos)|finjamos|haz como si|"
    r"supongamos|ejemplo:))",
    re.IGNORECASE,
)


def own_voice(text: str) -> str:
    """Return the parts of a message that its writer says in her own voice; lines and their order are kept."""
    kept: list[str] = []
    lines = text.split("\n")
    others = False  # somebody else speaks until the next blank line
    for number, line in enumerate(lines):
        if not line.strip():
            others = False
        if others:
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        own, others, ended = _own_of_line(line, following)
        kept.append(own)
        if ended:
            break
    return "\n".join(kept)


def _own_of_line(line: str, following: str) -> tuple[str, bool, bool]:
    """Return what of a line is the writer's, whether the lines below are another's, and whether a game begins."""
    bracketed = _BRACKETED.match(line)
    if bracketed and _gives_word(bracketed["label"], bracketed["said"]):
        return "", False, False
    own = ""
    # What the line has nothing of, none of its sentences has.
    labeling, saying = _LABELING.search(line), _AS_THEY_SAY.search(line)
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(line))]
    for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
        sentence = line[start:end]
        if _PLAY.match(sentence):
            return own, False, True
        voice = _VOICE.search(sentence) if labeling else None
        if voice:
            return own + sentence[: voice.start()], True, False
        if saying and _AS_THEY_SAY.search(sentence):
            continue
        colon = labeling and _COLON.search(_STAMP.sub(lambda found: " " * len(found[0]), sentence))
        if colon and _gives_word(sentence[: colon.start()], line[start + colon.end() :].strip() or following):
            return own, not line[start + colon.end() :].strip(), False
        own += sentence
    return own, False, False


def _gives_word(label: str, said: str) -> bool:
    """Return whether a label names somebody other than the writer, who then says "I"."""
    if len(label) > MAX_LABEL or not _FIRST_PERSON.match(said):
        return False
    words = _STAMP.sub("", label).strip(" *_[]<>()\"'“”-•–—").split()
    folded = [word.lower().replace("’", "'").strip(',.*_()"') for word in words]
    if not 1 <= len(words) <= MAX_LABEL_WORDS or len(folded[0]) < 2:
        return False
    sources = [place for place, word in enumerate(folded) if word in _FROM and place < len(words) - 1]
    if sources and folded[sources[-1] + 1] not in {"me", "mir", "moi", "mí"}:
        words, folded = words[sources[-1] + 1 :], folded[sources[-1] + 1 :]
    if any(word in _SELF for word in folded):
        return False
    return bool(_NOT_HERS.search(" ".join(folded))) or _names_person(words, folded)


# "The ad reads: I am a carpenter", "If my cat could talk: I ..."; her own bio or letter is in her voice.
_NOT_HERS: Final = re.compile(
    r"(?:^(?!(?:since|because|as|when|now)\b).*\b(?:reads?|says?|said|states?|goes(?: like this)?|wrote|writes|steht"
    r"|stand|lautete?|schreibt|schrieb|dit|"
    r"disait|adds?|added|asks?|asked|answers|answered|replies|replied|thinks?|claims?|claimed|insists?|shouts?|jokes?|"
    r"joked|whispers?|explains?|explained|tells|told|écrit|ajoute|répond|sagt|meint|fügt hinzu|dice|añade|responde"
    r"|decía|pone|ponía|escribió)"
    r"|^(?:the|this|that|an?|his|her|their|your|another|following)\b.{0,40}\b(?:ad|advert|letter|e-?mail|message|review|"
    r"post|tweet|bio|caption|sign|poster|headline|article|text|paragraph|sentence|poem|song|quote|line|profile|comment|"
    r"speech|translation)"
    r"|^your (?:\w+ )?(?:answer|reply|response|message|text|words)\b.*|^(?:caption|translation|quotation|citation)"
    r"|^(?:monologue|speech|words|diary|letter|song|quote|prayer|poem|zitat|citation|cita) (?:of|by|from|von|de"
    r"|des)\b.*"
    r"|^(?:if|wenn|si|in case)\b.*|.*\b(?:character|persona|villain|protagonist|avatar|npc)(?:'s)?\b.*|.*\b\d+-year-old"
    r"|\b(?:translate|proof-?read|rewrite|rephrase|paraphrase|shorten|summari[sz]e|polish|correct|übersetze?|traduis|"
    r"traduce|résume|resume)\b.{0,50})$",
    re.IGNORECASE,
)
_SELF: Final = _words("i i'm i've me myself mine us ich mir mich je moi yo mí io eu ik")


def _names_person(words: list[str], folded: list[str]) -> bool:
    owned = folded[0] in _DETERMINERS and len(words) > 1
    for word in folded[1:] if owned else folded:
        if word in _ABOUT:
            break
        if word in _PEOPLE:
            return True
    if owned or any(word in _OWN or _SUBJECT_ENDING.search(word) for word in folded):
        return False
    named = [word for word, low in zip(words, folded, strict=True) if low not in _NAME_PARTICLES]
    return len(words) == 1 or (len(words) <= 3 and all(_is_name(word) for word in named))


def _is_name(word: str) -> bool:
    return word[:1].isupper() and not (word.isupper() and len(word) > 3)
