"""Tell a single job for the assistant from a lasting wish about its work; must not judge anything else."""

from collections.abc import Sequence
from typing import Final

from extraction.sentences import Passage, Sentence
from screening.text import compiled, either

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"

_WANTS: Final = compiled(
    r"^(?:the )?(?:user |member |nutzer(?:in)? )?(?:wants?|needs?|asks?|asked|requests?|requested|requires?"
    r"|would like|is asking"
    r"|seeks?|möchte|will|braucht|bittet|veut|souhaite|demande|a besoin|quiere|pide|necesita|quer|pede|precisa"
    r"|vuole|chiede"
    r"|wil|vraagt|chce|prosi|potrzebuje)"
    + _END
    + r"|^(?:想|要|需要|请求)|(?:てほしい|して欲しい)[。.]?$|^(?:يريد|يطلب)"
)
# A single job for the assistant, as the member says it.
_TASK_SAID: Final = compiled(
    _START + r"(?:"
    r"translat\pL*|summari\pL*|proofread|convert|calculate|compute|sort|rewrite|rephrase|shorten|fix|explain"
    r"|remind me|set (?:a|an|the)"
    r"|write me|make (?:this|the|it|that)|how (?:many|much|long|far|do)|what(?:'?s| is)|find me|look up|draft"
    r"|correct|format|list"
    r"|play|book|order|swap|rename|replace|generate|draw|getting"
    r"|übersetz\pL*|fass\pL*|korrigier\pL*|stell|schreib\pL*|erklär\pL*|rechne|erinner\pL*|sortier\pL*|such"
    r"|tradui\pL*|résume\pL*|corrige\pL*|écris|explique\pL*|calcule|rappelle\pL*|trie"
    r"|traduc\pL*|resum\pL*|haz\pL*|corrige\pL*|escríbe\pL*|explica\pL*|calcula|mánda\pL*|ordena"
    r"|tradu\pL*|resum\pL*|converte|corrige|escreve|explica|calcula|põe|ordena|faz"
    r"|tradu\pL*|riassum\pL*|corregg\pL*|scriv\pL*|spiega\pL*|calcola|converti|ordina"
    r"|vertaal|vat|corrigeer|schrijf|leg|bereken|zet|herinner"
    r"|przetłumacz|streść|popraw|napisz|wyjaśnij|oblicz|posortuj|przypomnij"
    r")" + _END + r"|翻译|总结|换成|改成|帮我|把这|要約|翻訳|直して|教えて|ترجم|لخص|صحح"
)
# An order of one thing, at the start of a sentence.
_ORDERED: Final = compiled(
    r"^(?:please |can you |could you |pls )?(?:(?:give|wake|show|tell|make|get|find|bring|send|draw|write|read|sing"
    r"|cook|name)"
    r"(?: me| us)? (?:an? |some |\d|two |three |four |five |ten |at |the (?:name|capital|list))"
    r"|(?:mach|gib|zeig|sag|weck|schick|such|nenn|erzähl|schreib)e? (?:mir|uns|mich) (?:ein|\d|zwei|drei|fünf|zehn|um )"
    r"|(?:donne|fais|montre|dis|envoie|écris|trouve)[sz]?-moi (?:une? |des |\d|deux |trois )"
    r"|(?:dame|hazme|dime|muéstrame|envíame|búscame|escríbeme) (?:una? |unos |\d|dos |tres )"
    r"|(?:dá-me|me dá|me dê|faz-me|me faz|diz-me|mostra-me) (?:uma? |\d|dois |três )"
    r"|(?:dammi|fammi|dimmi|mostrami|trovami|scrivimi) (?:una? |un' ?|\d|due |tre )"
    r"|(?:geef|maak|toon|zeg|stuur|zoek) (?:me|mij) (?:een |\d|twee |drie )"
    r"|(?:daj|zrób|pokaż|powiedz|znajdź|napisz) mi )"
    r"|^(?:给我|帮我)|(?:を|が)[^,.]{1,8}て(?:ください|くれ)[.]?$|^(?:أعطني|اعطني|اكتب لي)"
)
_STANDING: Final = compiled(
    _START + r"(?:"
    r"always|never|every|each|from now on|in future|generally|usually|prefer\pL*|whenever|keep|immer|nie"
    r"|ab jetzt|künftig|stets"
    r"|toujours|jamais|désormais|siempre|nunca|sempre|mai|d'ora in poi|altijd|voortaan|zawsze|od teraz"
    r")" + _END + r"|总是|一直|以后|每次|いつも|毎回|今後|دائما|دائماً"
)
# What a single job is about: something at hand, which nobody needs in a later conversation.
_AT_HAND: Final = compiled(
    _START
    + r"(?:this|these|that (?:text|sentence|email|file|list|paragraph)|the (?:text|sentence|paragraph|email|e-mail"
    r"|list|names"
    r"|code|file|(?:first|second|third|last|next) \pL+)|an? (?:timer|alarm|reminder|summary|poem|haiku"
    r"|translation|draft|list"
    r"|story|joke|email|e-mail|paragraph|explanation|recipe)"
    r"|the (?:header|footer|heading|title|table|columns?|rows?|button|background|chart|slides?|image|picture|logo|font"
    r"|page|section|intro|ending|function|script|query)|to know|to be reminded|translated|proofread"
    r"|summari[sz]ed|rewritten"
    r"|converted|sorted|shortened|corrected"
    r"|(?:diesen?|dieser|dieses|den|der|die|das) (?:text|satz|absatz|liste|mail|datei|artikel)|einen? (?:wecker|timer"
    r"|zusammenfassung|gedicht)|übersetzt|zusammengefasst|korrigiert"
    r"|(?:ce|cet|cette|ces|le|la) (?:texte|phrase|paragraphe|liste|article|mail)|du texte|un résumé|corriger|traduire"
    r"|(?:este|esta|estos|el|la) (?:texto|frase|párrafo|lista|artículo|correo)|un resumen|traducir"
    r"|(?:este|esta|isto|o|a) (?:texto|frase|parágrafo|lista|artigo|ficheiro)|isto|um resumo|traduzir|converter"
    r"|(?:questo|questa|quest'|il|la) (?:testo|frase|paragrafo|lista|articolo)|un riassunto|tradurre"
    r"|(?:deze|dit|de) (?:tekst|zin|alinea|lijst|artikel)|een samenvatting|vertaald"
    r"|(?:ten|tę|to|tego|tej) (?:tekst|zdanie|akapit|listę|artykuł\pL*|zdania)|streszczenie|przetłumaczyć"
    r"|poprawić)" + _END + r"|(?:这|那)(?:个|句|段|篇|些)|文件名|翻译|总结"
    r"|この(?:文|文章|リスト)|要約|翻訳|هذا النص|هذه الجملة|ترجمة|تلخيص|\d+ ?%"
)
# A piece of text to be found once, whether or not it is ordered in so many words.
_PIECE: Final = compiled(
    r"^(?:the )?(?:user |member )?(?:wants?|needs?|seeks?|asks? for|braucht|sucht|veut|cherche|necesita|busca) "
    r"(?:an?|eine?n?|une?|una?) (?:\pL+ )?(?:rhyme|synonym|antonym|slogan|caption|headline|title|regex|formula"
    r"|subject line|word|reim|überschrift|rime|synonyme|titre|rima|sinónimo|título)" + _END
)
# What is over within the day.
_PASSING: Final = compiled(
    _START
    + r"(?:tonight|right now|just now|at the moment of|this (?:morning|afternoon|evening)|heute (?:abend|nachmittag)"
    r"|gerade eben|ce (?:soir|matin)|cet après-midi|esta (?:noche|tarde|mañana)|ahora mismo)" + _END
)
_BUSY: Final = compiled(
    r"^(?:is|are|was) (?:\pL+ )?(?:waiting|sitting|standing|stuck|heading|queuing|queueing|walking|watching"
    r"|baking|cooking|eating|having)" + _END
)
_FAULT: Final = compiled(
    r"\pL+(?:error|exception)" + _END + r"|" + _START + r"(?:on|in|at) line \d+|stack ?trace|segfault"
    r"|in zeile \d+|à la ligne \d+"
)
_ANY: Final = either(_FAULT, _PASSING, _BUSY, _WANTS)


def is_one_off(shown: Passage, said: Sequence[Sentence]) -> bool:
    """Return whether a body tells of a single job or a passing fault."""
    text = shown.text
    if not _ANY.search(text):
        return False
    if _FAULT.search(text) and not shown.says(_STANDING):
        return True
    if _PASSING.search(text) or (_BUSY.search(text) and any(_PASSING.search(sentence.text) for sentence in said)):
        return True
    if not _WANTS.search(text) or any(sentence.says(_STANDING) for sentence in said):
        return False
    if any(sentence.says(_ORDERED) for sentence in said) or _PIECE.search(text):
        return True
    ordered = any(sentence.says(_TASK_SAID) for sentence in said)
    return ordered and bool(_AT_HAND.search(text))
