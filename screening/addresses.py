"""Find an exact street address in one text, as streets are written in many countries; must not look anything up."""

from collections.abc import Iterator
from typing import Final

from screening.text import compiled

_START: Final = r"(?:^|[^\pL\pN])"
# Addresses need capitals, so they run on the visible text.
_SUFFIX: Final = (
    r"(?:Street|St|Avenue|Ave?|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Drv?|Court|Ct|Way|Place|Pl|Square|Sq"
    r"|Terrace|Ter|Crescent|Cres|Grove|Circle|Cir|Highway|Hwy"
    r"|Parkway|Pkwy|Close|Alley|Row|Mews|Hills?|Trail|Trl|Neck|Oval|Mills?|Loop|Path|Pike|Plaza|Point|Points"
    r"|Port|Ports|Prairie|Radial|Ranch|Rapids?|Ridges?|River|Route"
    r"|Run|Shoals?|Shores?|Skyway|Springs?|Spurs?|Station|Stream|Summit|Throughway|Trace|Track|Trafficway"
    r"|Tunnel|Turnpike|Underpass|Unions?|Valleys?|Viaduct|Views?"
    r"|Villages?|Ville|Vista|Walks?|Wall|Wells?|Bluffs?|Bend|Bridge|Brooks?|Burgs?|Bypass|Camp|Canyon|Cape"
    r"|Causeway|Centers?|Centre|Cliffs?|Club|Common|Corners?|Course"
    r"|Coves?|Creek|Crest|Crossing|Crossroad|Curve|Dale|Dam|Divide|Estates?|Expressway|Extensions?|Falls?"
    r"|Ferry|Fields?|Flats?|Fords?|Forest|Forges?|Forks?|Fort|Freeway"
    r"|Gardens?|Gateway|Glens?|Greens?|Groves|Harbors?|Haven|Heights|Hollow|Inlet|Islands?|Isle|Junctions?"
    r"|Keys?|Knolls?|Lakes?|Land|Landing|Light|Loaf|Locks?|Lodge|Mall"
    r"|Manors?|Meadows?|Mission|Motorway|Mount|Mountains?|Orchard|Overpass|Parks?|Parkways|Pass|Passage"
    r"|Pines?|Plains?|Parade|Quay|Wharf|Gate|Yard)"
)

_ADDRESS: Final = compiled(
    # number, name, kind of street
    r"\b\d{1,6}[A-Za-z]?(?:[/-]\d{1,4})?,? (?:(?:North|South|East|West|[NSEW])\.? )?(?:(?:[A-Z][\pL'’.\-]*"
    r"|\d{1,3}(?:st|nd|rd|th)|of|the|de|la|del|Old|St\.) ){1,4}" + _SUFFIX + r"\b\.?"
    r"|\b\d{1,5}[a-z]? (?:[\pL'’\-]+ ){1,2}(?:street|avenue|boulevard|blvd|crescent)\b"
    # German, Dutch, Nordic, Hungarian: name with kind, then number
    r"|\b[A-ZÄÖÜ][\pL.\-]*(?:stra(?:ss|ß)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|steig|chaussee|berg|hof"
    r"|markt|graben|promenade|steeg|straat|laan|plein|gracht|kade|dijk|singel|pad|dreef|gatan|gata|vagen"
    r"|vägen|veien|vegen|vej|gade|alle|stien|katu|tie|kuja)(?: |, )\d{1,4}(?: ?[a-zA-Z])?\b"
    r"|\b[\pL.\-]+(?:strasse|straße|straat|gracht|gatan|utca) \d{1,4}\b|\b(?:Am|An der|An den|Im|In der|Auf "
    r"der|Auf dem|Zum|Zur|Unter den|Beim|Vor dem) [A-ZÄÖÜ]\pL+ \d{1,4}[a-z]?\b(?:,? \d{4,5})?"
    r"|\b[\pL]+ (?:Stra(?:ss|ß)e|Platz|Allee|Weg|Gasse|Ring|Ufer|Damm|Chaussee|utca|út|tér|caddesi|sokak"
    r"|sokağı|Cad\.|Sok\.) (?:No:? ?)?\d{1,4}[a-z]?\b"
    # Romance and Slavic: kind, name, number, or number before
    r"|\b\d{1,4}(?: ?(?:bis|ter|[a-zA-Z]))?,? (?i:rue|avenue|av\.|boulevard|bd|allee|allée|chemin|impasse"
    r"|quai|place|cours|passage|route|ruelle|square) (?:(?i:de|du|des|la|le|les|l'|d'|de la) ?)*[\pL\-'’]+"
    r"|(?:^|[^\pL\pN])(?i:calle|c/|avenida|avda\.?|av\.|paseo|plaza|carrera|cra\.?|camino|ronda|travesia|rua"
    r"|r\.|travessa"
    r"|praca|praça|alameda|estrada|largo|viale|piazza|corso|vicolo|strada|contrada|stretto|rotonda|borgo"
    r"|canale|ulica|ul\.|aleja|aleje|al\.|plac|pl\.|os\.|osiedle|улица|ул\.|проспект|пр\.|переулок|бульвар"
    r"|площадь|strada|bulevardul|calea|οδος) [^\n\d]{2,50}?,? ?(?i:n\.?[oº°]?\.? ?|д\. ?|nr\.? ?|num\. ?"
    r"|numero )?\d{1,5}\b"
    r"|\bVia [A-Z\pL'’. ]{2,40}?,? ?(?:n\. ?)?\d{1,3}\b"
    # what follows a street: floor or flat beside a number, postal code and city, state and ZIP, UK postcode
    r"|\b\d{1,6}\b[^\n]{3,50}\b(?i:apt|apartment|suite|ste|unit|flat)\.? ?#?\d{1,5}\b|\b(?i:apt|suite|unit"
    r"|flat)\.? ?#?\d{1,5},? \d{1,6}\b"
    r"|[\pL.'’)\-]{2,} \d{1,4} ?[a-zA-Z]?(?:[/-]\d+)?,? (?:[A-Z]{1,3}-)?\d{4,5}(?:-\d{3,4})?(?: ?[A-Z]{2})?,? "
    r"[A-Z\pL][\pL]{2,}|[\pL.'’)\-]{2,} \d{1,4} ?[a-zA-Z]?(?:[/-]\d+)?,? \d{2}-\d{3} [A-Z\pL]"
    r"|\b[A-Z][\pL.'’ \-]+,? (?:A[LKZR]|C[AOT]|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA"
    r"|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY]|DC|PR),? \d{5}(?:-\d{4})?\b"
    r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}\b|\b[A-CEGHJ-NPR-TVXY]\d[A-Z] \d[A-Z]\d\b|(?i:p\.? ?o\.? "
    r"box|postfach|apartado|boite postale|skrytka) \d+"
)

_EAST_ASIAN: Final = compiled(
    r"[\p{Han}]{1,10}(?:路|街|道|巷|弄|胡同)[\p{Han}]{0,6}\d+ ?[号號]"
    r"|[\p{Han}\p{Katakana}\p{Hiragana}]+(?:市|区|町|村|郡)[^\n]{0,20}?\d+(?:丁目|番|-\d+)|[\p{Hangul}]+(?:로"
    r"|길) ?\d+(?:번길 ?\d+)?(?:$|[^\d년월일])"
)
_HAN_OR_HANGUL: Final = compiled(r"[\x{3040}-\x{30ff}\x{4e00}-\x{9fff}\x{ac00}-\x{d7af}]")

_ADDRESS_WORD: Final = compiled(
    _START + r"(?:(?:home|new|old|my|his|her|their|postal|mailing|billing|shipping|delivery|street|exact|full|current) "
    r"address(?:es)?|address(?:es)? ?(?:is|are|:|was)|lives? (?:at|in) (?:no\.? ?)?\d|resides? at"
    r"|deliver(?:ed)? to|ship(?:ped)? (?:\pL+ )?to|wohnt (?:in der|im|am|in)|anschrift|adresse|direccion"
    r"|domicilio|indirizzo|endereco|morada|adres|адрес|住所|地址|주소|عنوان)"
    r"[^\n]{0,30}?\d{1,5}(?:[ ,/\-][^\n]{0,60}\pL{3,}|$)"
)


# A number that is the year of a date ends no address: "walks the Camino in September 2027".
_YEAR_OF_DATE: Final = compiled(
    r"(?i)(?:\b(?:de|del|di|do|em|en|in|im|since|seit|desde|dal|nel|od|w|until|par|for)|jan\pL*|feb\pL*|fev\pL*"
    r"|mar\pL*|mär\pL*|a[pbv][rb]\pL*"
    r"|ma[iy]\pL*|mag\pL*|ju[nil]\pL*|giu\pL*|lug\pL*|a[uog][uogû]\pL*|sep\pL*|set\pL*|o[ckut]t\pL*|nov\pL*"
    r"|d[eiéi][cz]\pL*|ene\pL*|gen\pL*) "
    r"(?:19|20)\d\d$"
)
_DIGITS: Final = compiled(r"\d")
MAX_LOOKED_AT: Final = 40  # places of one text that look like an address; a fact has one


AROUND: Final = 110  # characters on either side of a number that an address can reach over


def has_address(shown: str, folded: str) -> bool:
    """Return whether a text holds an address with a number. `shown` keeps its case, which tells names from words."""
    for passage in _passages(shown):
        for match, _number in zip(_ADDRESS.finditer(passage), range(MAX_LOOKED_AT), strict=False):
            if not _YEAR_OF_DATE.search(match.group()):
                return True
        if _HAN_OR_HANGUL.search(passage) and _EAST_ASIAN.search(passage):
            return True
    return bool(_ADDRESS_WORD.search(folded))


def _passages(shown: str) -> Iterator[str]:
    """Yield what stands around the numbers of a text, cut at spaces; every address has a number.

    The text is looked through in blocks, so that a text full of digits costs no more than its length.
    """
    blocks = range(0, len(shown), AROUND)
    held = [bool(_DIGITS.search(shown[block : block + AROUND])) for block in blocks]
    start = -1
    for number, block in enumerate((*blocks, len(shown))):
        near = number < len(held) and any(held[max(0, number - 1) : number + 2])
        if near and start < 0:
            start = max(0, shown.rfind(" ", 0, block))
        elif not near and start >= 0:
            yield shown[start : _space(shown, block)]
            start = -1


def _space(text: str, place: int) -> int:
    found = text.find(" ", place, place + AROUND)
    return found if found >= 0 else min(len(text), place + AROUND)
