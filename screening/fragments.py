"""Tell a remark that means nothing on its own, a greeting or a plea from a fact; must not judge what a fact says."""

from typing import Final

from screening.text import any_of, compiled, either, word_set

_END: Final = r"(?:$|[^\pL\pN])"
MAX_FRAGMENT_WORDS: Final = 6

_ARTICLES: Final = word_set(
    "the that this those these der die das den dem dieser diese dieses jener le la les ce cette celui celle ceux "
    "el los las "
    "ese esa este esta aquel o os esse essa este aquele il lo gli i quello quella questo questa de het die dat "
    "deze ten ta to "
    "tamten tamta ow"
)
# What points at something said before: it fills no fact.
_POINTING: Final = word_set(
    "one ones option choice thing first second third last other latter former same usual previous next above "
    "below erste "
    "zweite dritte letzte andere gleiche obere untere premier premiere deuxieme dernier autre meme primero "
    "primera segundo "
    "segunda ultimo ultima otro otra siempre mismo primeiro outro outra mesmo primo secondo altro altra stesso "
    "eerste tweede "
    "laatste grotere kleinere pierwszy drugi ostatni inny wiekszy mniejszy"
)
_VERBS: Final = compiled(
    r"\pL'(?:s|re|m|ve|ll|d)(?: |$)|"
    r"\pL'(?:s|re|m|ve|ll|d)(?: |$)|"
    r"(?:^| )(?:is|are|was|were|has|have|had|does|do|did|will|can|must|should|ist|sind|hat|haben|war|wird|kann"
    r"|est|sont|a|ont"
    r"|es|son|tiene|esta|e|sao|tem|sono|ha|hanno|heeft|zijn|jest|sa|ma|\pL{2,}(?:ed|ing|es))(?: |$)"
)
_OPENING: Final = compiled(
    r"^(?:same|(?:more )?like (?:the|that|this|last|before)|about \d|around \d|approximately \d|roughly \d"
    r"|maybe|probably|perhaps|i guess|not sure|yes|yeah"
    r"|yep|nope|ok|okay|either|whichever|whatever|anything|as (?:usual|always|before|said)|wie (?:beim|immer"
    r"|gehabt|letztes"
    r"|vorher|gesagt)|ungefahr \d|etwa \d|ja|nein|comme (?:d'habitude|toujours|avant)|environ \d|oui|non"
    r"|como (?:siempre|sempre"
    r"|antes)|come (?:sempre|al solito|prima)|zoals (?:altijd|vorige)|jak (?:zwykle|zawsze|ostatnio)|igual que"
    r"|lo mismo"
    r"|das gleiche|dasselbe|la meme|le meme|lo stesso|o mesmo|hetzelfde|to samo|celui|celle|ceux)" + _END
)
_LONE_WORDS: Final = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday later soon now here there
    first second
    third left right red blue green black white yellow big small bigger smaller montag dienstag mittwoch
    donnerstag freitag
    samstag sonntag heute morgen gestern lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes
    miercoles jueves
    viernes sabado domingo lunedi martedi mercoledi giovedi venerdi maandag dinsdag woensdag donderdag vrijdag
    zaterdag
    zondag poniedzialek wtorek sroda czwartek piatek sobota niedziela rot blau grun rouge bleu vert rojo azul
    verde rosso
    both either neither exactly perhaps anything someone everyone
    """
)
_CJK_FRAGMENT: Final = compiled(
    r"^(?:左|右|上|下|前|后|後|大|小|红|紅|蓝|藍|绿|綠|"
    r"黑|白|黄|新|旧|那|这|這|第)[^,.]{0,3}(?:的|个|個|种|種|边|邊)?[.]?$"
    r"|^[^,.]{1,6}(?:ほう|やつ|それ|これ|あれ)[.]?$|^(?:星期|周)[一二三四五六日天][.]?$"
    r"|^第[^,.]{1,2}[个個番][.]?$|^ال[^ ]+[.]?$"
)
_TOLD_GREETING: Final = compiled(
    r"^(?:the )?(?:user |member )?(?:says?|said|sends?|greets?|greeted|thanks?|thanked|wishes|hopes|is grateful"
    r"|wunscht|sagt|grusst"
    r"|bedankt|dit|souhaite|remercie|dice|da|saluda|agradece|diz|deseja|ringrazia|saluta|zegt|wenst|groet|mowi"
    r"|dziekuje|zyczy)"
    r"(?: sich| a| an?| the| einen?| las| os| de| een| le| la| il| to| everyone| good)*"
    r" (?:hi|hello|hey|morning|afternoon|evening|night|thanks?|thank you|bye|goodbye|assistant|agent|bot|guten"
    r"|tag|morgen|bonjour"
    r"|bonne|bonsoir|merci|gracias|hola|buenos|buenas|obrigad[oa]|ola|bom dia|boa|grazie|ciao|buon\pL*"
    r"|goede\pL*|dank\pL*|hallo"
    r"|dzien dobry|czesc|milego)" + _END
)
_GREETING: Final = compiled(
    r"^(?:صباح الخير|مساء الخير|おはよう|こんばんは|早上好|晚上好|下午好"
    r"|bonne (?:soiree|journee|nuit)|buenas noches|muchas gracias"
    r"|boa (?:noite|tarde)|muito obrigad[oa]|buona(?:sera|notte)|buona giornata|goede(?:morgen|middag|navond)"
    r"|dobry wieczor"
    r"|milego dnia|gute nacht|vielen dank|dank je wel|hope you(?:'re| are) well)[^,.!]{0,12}[.! ]*$"
)
_PLEA: Final = compiled(
    r"(?:, | )(?:please|pls|bitte|por favor|s'il (?:te|vous) plait|stp|svp|per favore|per piacere|alsjeblieft"
    r"|prosze)[.! ]*$"
)
_STANDING: Final = any_of(
    "always never every each immer nie stets toujours jamais siempre nunca sempre mai altijd nooit zawsze nigdy"
)
_NARROWS: Final = compiled(r"^(?:no|not|only|kein\pL*|nur|sans|pas de|sin|sem|senza|geen|bez|solo|rien)" + _END)
_IS_STANDING: Final = compiled(r"(?:^|[^\pL])" + _STANDING + _END)
_COURTEOUS: Final = either(_TOLD_GREETING, _GREETING, _PLEA)


def find_fragment(text: str) -> str | None:
    """Return the name of the rule by which a folded, trimmed body says nothing that stands on its own, or None."""
    courteous = _COURTEOUS.search(text)
    if courteous and (_TOLD_GREETING.search(text) or _GREETING.search(text)):
        return "greeting"
    if courteous and _PLEA.search(text) and not _IS_STANDING.search(text) and not _NARROWS.search(text):
        return "request"
    if len(text) > 80:
        return None
    if not text.isascii() and _CJK_FRAGMENT.search(text):
        return "fragment"
    words = text.strip(" .!,;").replace(",", "").split()
    if len(words) == 1:
        alone = words[0]
        return "fragment" if alone in _LONE_WORDS or (alone.isascii() and len(alone) <= 2) else None
    if len(words) > MAX_FRAGMENT_WORDS or _VERBS.is_in(text.partition(" ")[2]):
        return None
    if _OPENING.search(text):
        return "fragment"
    if words[0] not in _ARTICLES or len(words) > 4:
        return None
    return "fragment" if len(words) == 2 or any(word in _POINTING for word in words[1:]) else None
