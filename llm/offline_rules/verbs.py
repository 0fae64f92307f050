"""English verb forms for the offline rules: lemma, third person, gerund; must not know what a sentence means."""

from llm.offline_rules.words import word_set

_IRREGULAR = """
am is are was were been be:be | has had have:have | does did done do:do | goes went gone go:go | got gotten gets:get
said says:say | told:tell | thought:think | felt:feel | found:find | gave given:give | knew known:know | left:leave
made:make | met:meet | paid:pay | ran:run | saw seen:see | sold:sell | sent:send | slept:sleep | spoke spoken:speak
spent:spend | stood:stand | swam swum:swim | taught:teach | took taken:take | understood:understand | wore worn:wear
won:win | wrote written:write | ate eaten:eat | drank drunk:drink | drove driven:drive | rode ridden:ride
flew flown:fly
grew grown:grow | kept:keep | lost:lose | bought:buy | brought:bring | built:build | began begun:begin | became:become
broke broken:break | chose chosen:choose | came:come | dug:dig | drew drawn:draw | fell fallen:fall
forgot forgotten:forget
heard:hear | held:hold | hid:hide | led:lead | lent:lend | lit:light | meant:mean | rose risen:rise | sang sung:sing
sat:sit | shot:shoot | showed shown:show | threw thrown:throw | woke woken:wake | learnt:learn | dreamt:dream
fed:feed | bred:breed | dying died:die | lying lied:lie | tying tied:tie | bore born:bear
travelled travelling:travel | cancelled:cancel | quit:quit | put:put | cut:cut | read:read | set:set
"""
_LEMMAS = {
    form: lemma.strip()
    for entry in _IRREGULAR.replace("\n", " | ").split("|")
    if ":" in entry
    for forms, lemma in [entry.rsplit(":", 1)]
    for form in forms.split()
}
_PAST = {
    form
    for form, lemma in _LEMMAS.items()
    if form != lemma and not form.endswith(("ing", "s")) and form not in {"am", "are", "be", "have", "do", "go"}
} | {"was"}
_NOT_ING = word_set(
    "thing something nothing anything everything morning evening spring string king ring sibling wedding ceiling "
    "interesting boring exciting amazing willing outstanding charming bring sing swing during sterling"
)
_BASE_ED = word_set("need feed breed speed bleed seed weed embed heed")
_VOWELS = "aeiou"
# Verbs whose last consonant doubles before -ing and -ed, beyond those of one syllable.
_DOUBLING = word_set("prefer refer admit commit forget begin control")
_KEEP_E = word_set(
    "live love like hate move use drive ride write bake hike bike dance cycle practice practise make take have give "
    "manage lose leave come become smoke code prepare raise share settle relocate retire serve adore cruise skate dive "
    "explore organize organise place promote divorce engage graduate commute wake change announce compose freelance "
    "improve  close choose debate decorate dine donate hope invite juggle judge meditate create paste save "
    "schedule measure minimize solve state store trade  type update vote welcome browse breathe bathe care rake "
    "carve produce reduce migrate reside lease renovate notice handle tackle include complete "
    "combine examine imagine celebrate translate appreciate specialize coordinate operate participate continue argue "
    "arrive chase dislike encourage experience finalize guide hire ice note pole quote race refuse release replace "
    "decide provide divide invite observe preserve cause rescue rewrite schedule score sense size slice "
    "surprise tile time tire trace value weave wipe"
)


def is_gerund(word: str) -> bool:
    """Say whether the lower-case `word` looks like an -ing form of a verb."""
    return len(word) > 4 and word.endswith("ing") and word not in _NOT_ING


def is_past(word: str) -> bool:
    """Say whether the lower-case `word` looks like a past form."""
    return word in _PAST or (len(word) > 3 and word.endswith("ed") and word not in _BASE_ED)


def lemma(word: str) -> str:
    """Return the base form of the lower-case `word`; a word that is no verb comes back unharmed or nearly so."""
    if word in _LEMMAS:
        return _LEMMAS[word]
    if is_gerund(word):
        return _unsuffixed(word[:-3])
    if len(word) > 3 and word.endswith("ied"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("ed") and word not in _BASE_ED:
        return _unsuffixed(word[:-2])
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _unsuffixed(stem: str) -> str:
    if stem + "e" in _KEEP_E:
        return stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    if stem.endswith(("iz", "at", "iv", "as", "us")) and len(stem) > 3 and stem[-3] not in _VOWELS:
        return stem + "e"
    return stem


def third(base: str) -> str:
    """Return the form for "he" of a base form: work -> works, study -> studies."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes", "can": "can"}
    if base in special:
        return special[base]
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def gerund(base: str) -> str:
    """Return the -ing form of a base form: swim -> swimming, bake -> baking."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    short = len(base) in (3, 4) and base[-1] not in "aeiouwxyhs" and base[-2] in _VOWELS and base[-3] not in _VOWELS
    if (short and base not in {"open", "order"}) or base in _DOUBLING:
        return base + base[-1] + "ing"
    return base + "ing"
