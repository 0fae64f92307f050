"""Tell a single job for the assistant from a lasting wish about its work; must not judge anything else."""

from collections.abc import Sequence
from typing import Final

from extraction import markers
from extraction.sentences import Sentence
from screening.text import compiled

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


def is_one_off(shown: str, said: Sequence[Sentence]) -> bool:
    """Return whether a body tells of a single job or a passing fault. `shown` is visible, in lower case."""
    if _FAULT.search(shown) and not markers.STANDING.search(shown):
        return True
    if _PASSING.search(shown) or (_BUSY.search(shown) and any(_PASSING.search(sentence.text) for sentence in said)):
        return True
    if not _WANTS.search(shown) or any(markers.STANDING.search(sentence.text) for sentence in said):
        return False
    if any(markers.ORDERED.search(sentence.text) for sentence in said):
        return True
    if _PIECE.search(shown):
        return True
    ordered = any(markers.TASK_SAID.search(sentence.text) for sentence in said)
    return ordered and bool(_AT_HAND.search(shown))
