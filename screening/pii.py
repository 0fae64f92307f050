"""Find data that identifies or reaches a person (SECURITY.md: what counts as PII); must not look anything up."""

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

import phonenumbers

from screening.addresses import has_address
from screening.text import any_of, compiled, either, word_set

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
MAX_CANDIDATES: Final = 60  # numbers of one text that are looked at; a fact has one or two

_EMAIL: Final = compiled(
    r"[\pL\pN._%+\-]+ ?@ ?[\pL\pN\-]+(?: ?\. ?[\pL\pN\-]+)*\.[\pL]{2,}"
    r"|[\pL\pN._%+\-]+ ?[\[({<] ?(?:at|@|arroba|ät) ?[\])}>] ?[\pL\pN\-]+ ?(?:[\[({<] ?(?:dot|punkt|punto"
    r"|point|ponto|\.) ?[\])}>]|\.| dot ) ?[\pL]{2,}"
    r"|[\pL\pN._%+\-]+ (?:at|arroba|chiocciola|arobase|klammeraffe|malpa) [\pL\pN\-]+(?: ?(?:dot|punkt|punto"
    r"|point|ponto|kropka) [\pL\pN\-]+)* ?(?:dot|punkt|punto|point|ponto|kropka) [\pL]{2,}"
    r"|[\pL\pN]*[._\d][\pL\pN._]* at [\pL\pN\-]+\.(?:com|net|org|de|fr|io|example|co\.uk)(?:$|[^\pL\pN])"
    r"|(?:mail|contact)[^\n]{0,30} [\pL\pN._]+ at [\pL\pN\-]+\.(?:com|net|org|de|fr|io|example)"
)
_USER_IN_URL: Final = compiled(r"[a-z][a-z0-9+.\-]+://[^\s@]*@[^\s]+")  # the secrets' business
_NUMBER: Final = compiled(r"\+?\(?\d(?:[ ().\-/]{0,3}\d){5,30}")
_PHONE_WORD: Final = compiled(
    _START
    + any_of(
        "phone* telephone* mobile cell cellphone tel call calls* text texts sms whatsapp signal telegram viber "
        "reach* contact* fax ring landline "
        "extension dial telefon* handy* mobil* nummer rufnummer anrufen telefono movil celular llam* telemovel "
        "telefone* numero_de_tel* portable joignable "
        "appel* cellulare chiam* nummer gsm bellen komork* dzwon* телефон* звон* номер* мобильн* 电话 電話 手机 "
        "手機 号码 携帯 전화 휴대폰 연락처 هاتف* جوال* الهاتف رقم "
        "फोन मोबाइल my_number his_number her_number their_number user's_number contact_number emergency_contact"
    )
    + "|(?:电话|電話|手机|手機|携帯|전화|휴대폰|번호|号码)"
)
_NORTH_AMERICAN: Final = compiled(r"^(?:\+?1[ .\-]?)?(?:\(\d{3}\) ?|\d{3}[.\- ])\d{3}[.\- ]\d{4}$")
# Where national numbers are written with a leading zero; all others need a plus, a word or the American form.
_PHONE_REGIONS: Final = word_set("GB DE FR IT NL AT CH BE SE JP AU IN CN KR TR EG")
_NOT_A_PHONE: Final = compiled(
    r"isbn|issn|ean|upc|\bsku|part n|order|ticket|version|\brfc\b|invoice|serial|build|release|iso \d|model"
)
_DIGIT_WORD: Final = any_of(
    "zero oh one two three four five six seven eight nine double null eins zwei drei vier funf sechs sieben "
    "acht neun un deux trois quatre cinq "
    "sept huit neuf cero uno dos tres cuatro cinco seis siete ocho nueve um dois quatro sete oito nove due "
    "quattro cinque sei sette otto "
    "een twee drie vijf zes zeven acht negen jeden dwa trzy cztery piec szesc siedem osiem dziewiec"
)
_SPOKEN: Final = compiled(_START + r"(?:" + _DIGIT_WORD + r"[ ,\-]+){6,}" + _DIGIT_WORD + _END)

_CARD_WORD: Final = compiled(
    _START
    + any_of(
        "card* visa mastercard amex american_express maestro discover diners jcb kreditkarte* kartennummer carte "
        "tarjeta* cartao carta creditcard karta karty карта карты 信用卡 カード 카드 بطاقة debit credit"
    )
    + _END
    + "|信用卡|カード|카드"
)
_IBAN: Final = compiled(_START + r"([a-z]{2}\d{2}(?:[ \-]?[a-z0-9]){11,36})")
_IBAN_LENGTH: Final = {
    word[:2]: int(word[2:])
    for word in word_set(
        """
        ad24 ae23 al28 at20 az28 ba20 be16 bg22 bh22 br29 by28 ch21 cr22 cy28 cz24 de22 dk18 do28 ee20 eg29
        es24 fi18 fo18 fr27 gb22 ge22 gi23 gl18 gr27 gt28 hr21 hu28 ie22 il23 iq23 is26 it27 jo30 kw30 kz20
        lb28 lc32 li21 lt20 lu20 lv21 mc27 md24 me22 mk19 mr27 mt31 mu30 nl18 no15 pk24 pl28 ps29 pt25 qa29
        ro24 rs22 sa24 sc31 se24 si19 sk24 sm27 sv28 tl23 tn24 tr26 ua29 va22 vg24 xk20
        """
    )
}

# Words that say "a number that names one person or account follows".
_ID_WORD: Final = compiled(
    _START
    + any_of(
        "ssn social_security* sozialversicherung* svnr national_id* national_insurance* national_identi* nino "
        "nif nie dni bsn burgerservicenummer pesel nip aadhaar aadhar "
        "codice_fiscale cpf cnpj curp rfc:* rut cedula nin tax_id* tax_number taxpayer* steuer-id* steuer_id* "
        "steueridentifikation* steuernummer itin vat* ust-id* "
        "ustid* mwst* numero_fiscal* partita_iva numero_de_tva tva passport* reisepass* passeport* pasaporte* "
        "passaporto passaporte paspoort* paszport* паспорт* "
        "driver*_licen* driver's_licen* driving_licen* license_number licence_number fuhrerschein* "
        "permis_de_conduire carnet_de_conducir licencia_de_conducir patente carteira_de_motorista "
        "rijbewijs* prawo_jazdy id_card id_number identity_card identity_number personalausweis* ausweisnummer "
        "carte_d'identite carta_d'identita cedula_de_* documento_de_identidad "
        "dowod_osobist* medicare medicaid nhs mrn medical_record* patient_id patient_number health_insurance* "
        "insurance_number insurance_id versichertennummer krankenversicherung* "
        "policy_number numero_de_securite* securite_sociale nir seguridad_social account_number account_no "
        "account_# account_is bank_account* checking_account* savings_account* acct* konto kontonummer* "
        "numero_de_cuenta cuenta_bancaria numero_de_compte compte_bancaire conto_corrente numero_di_conto "
        "conta_bancaria conta_corrente rekeningnummer bankrekening numer_konta rachun* "
        "routing* sort_code aba bic swift blz bankleitzahl clabe iban ifsc bsb card_number personnummer "
        "personal_number cpr henkilotunnus fodselsnummer rodne_cislo egn cnp oib jmbg amka инн снилс "
        "chassis imei imsi iccid serial_number_of_* customer_id customer_number kundennummer employee_id "
        "employee_number student_id student_number "
        "matrikelnummer member_id membership_number membership_id loyalty_number frequent_flyer* visa_number "
        "green_card alien_number case_number beneficiary* subscriber_id "
        "npi dea_number voter_id pan_number pan_card gstin sin_number tfn abn"
    )
    + _END
    + "|身份证|身分證|护照|護照|社保|マイナンバー|旅券|免許証|口座番号|银行账号|账号|주민등록|여권|운전면허"
    "|계좌|رقم الهوية|جواز|رقم الحساب|आधार|पासपोर्ट"
)
_DATE_TEXT: Final = (
    r"(?:\d{1,2}(?:st|nd|rd|th|er|º|\.)? ?(?:de |of )?(?:jan|feb|fev|fevr|marz|mar|mars|mae|apr|avr|abr|may"
    r"|mai|maj|mei|mag|jun|juin|giu|jul|juil|lug|lip|aug|aou|ago|sie|sep|set|wrz|oct|okt|out|ott|paz|nov|lis"
    r"|dec|dez|dic|gru|ene|kwi|cze|sty|lut|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)\pL*\.?,? ?(?:de "
    r"|del )?(?:19|20)\d\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
    r"|(?:0?[1-9]|[12]\d|3[01]) ?[./\-] ?(?:0?[1-9]|[12]\d|3[01]) ?[./\-] ?(?:(?:19|20)\d\d|\d\d)|(?:19"
    r"|20)\d\d ?[./\-] ?(?:0?[1-9]|1[0-2]) ?[./\-] ?(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:19|20)\d\d ?年 ?\d{1,2} ?月 ?\d{1,2} ?日|(?:19|20)\d\d년 ?\d{1,2}월 ?\d{1,2}일)"
)
_DATE: Final = compiled(r"(?:^|[^\d\-/.])" + _DATE_TEXT + r"(?:$|[^\d\-/])")
_BIRTH: Final = any_of(
    "born birth birthday birthdate birth-date date_of_birth dob d.o.b* geboren geburtstag geburtsdatum ne "
    "nee naissance anniversaire nacio nacido nacida nacimiento "
    "cumpleanos nasceu nascido nascida nascimento aniversario nato nata nascita compleanno geboortedatum "
    "verjaardag urodzon* urodzin* родил* рождени* dogum* "
    "出生 生日 生年月日 誕生日 生まれ 생년월일 생일 태어 الميلاد مولود ولد जन्म fodd fodt syntynyt narozen* "
    "szuletett nascut*"
)
# Scripts without spaces need no word boundary; "ne" in "new" is no birth.
_BORN: Final = rf"(?:{_START}{_BIRTH}{_END}|出生|生日|生年月日|誕生日|生まれ|생년월일|생일|태어|الميلاد|مولود|ولد)"
_BIRTH_DATE: Final = compiled(rf"{_BORN}[^\n]{{0,50}}?{_DATE_TEXT}|{_DATE_TEXT}[^\n]{{0,30}}?{_BORN}")

_FORMATTED_ID: Final = compiled(
    _START + r"(?:\d{3}-\d{2}-\d{4}|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}"
    r"|[a-z]{6}\d{2}[a-ehlmprst]\d{2}[a-z]\d{3}[a-z]"
    r"|[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d]|[a-z]{4}\d{6}[hm][a-z]{5}[a-z0-9]\d"
    r"|[a-z]{5}\d{4}[a-z]|\d{6}[-+]\d{4}|[12] ?\d{2} ?[01]\d ?\d{2} ?\d{3} ?\d{3} ?\d{2}"
    r"|(?:atu\d{8}|de\d{9}|be[01]\d{9}|nl\d{9}b\d{2}|es[a-z]\d{7}[a-z0-9]|it\d{11}|fr[a-z0-9]{2}\d{9}"
    r"|pl\d{10}|pt\d{9}|gb\d{9}|che-?\d{3}\.?\d{3}\.?\d{3}))" + _END
)
_DNI: Final = compiled(_START + r"([xyz]?\d{7,8})[ \-]?([a-z])" + _END)
_VIN: Final = compiled(r"\b[A-HJ-NPR-Z0-9]{17}\b")
_PLATE: Final = compiled(
    _START
    + any_of(
        "licen?e_plate* plate* number_plate* registration kennzeichen nummernschild autokennzeichen plaque* "
        "immatriculation matricula* placa* targa kenteken* tablica* tablice_rejestracyjne rejestrac* "
        "номер_машины госномер 车牌 ナンバープレート plaka"
    )
    + r"[^\n]{0,25}?"
    + _START
    + r"(?:[a-z]{1,4}[ \-]?(?:[a-z]{1,2}[ \-]?)?\d{1,4}[ \-]?[a-z]{0,3}|\d{1,4}[ \-]?[a-z]{1,3}[ \-]?\d{0,4})"
    + _END
    + "|车牌[^\n]{0,6}[a-z0-9]{4,}"
)
_IP: Final = compiled(r"(?:^|[^\d.\pL])(\d{1,3}(?:\.\d{1,3}){3})(?:$|[^\d./]|\.(?:$|[^\d]))")
_VERSION: Final = compiled(r"(?:version|release|build|firmware|chrome|driver|update|patch|v)\.? ?$")
_IP6: Final = compiled(
    r"(?:^|[^:\pL\pN])((?:[0-9a-f]{1,4}:{1,2}){2,7}[0-9a-f]{1,4}|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5}::)(?:$"
    r"|[^:\pL\pN]|/)"
)
_MAC: Final = compiled(
    r"(?:^|[^0-9a-f:\-])[0-9a-f]{2}(?:[:\-][0-9a-f]{2}){5}(?:$|[^0-9a-f:\-])|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}"
)
_WALLET: Final = compiled(
    r"\b(?:bc1[a-z0-9]{25,60}|ltc1[a-z0-9]{25,60}|addr1[a-z0-9]{40,110}|0x[0-9a-fA-F]{40}"
    r"|[13][1-9A-HJ-NP-Za-km-z]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33}|[48][1-9A-HJ-NP-Za-km-z]{94}"
    r"|r[1-9A-HJ-NP-Za-km-z]{24,34}|D[1-9A-HJ-NP-Za-km-z]{33}|cosmos1[a-z0-9]{38})\b"
)
_COORDINATES: Final = compiled(
    r"-?\d{1,2}\.\d{3,}°? ?[ns]?[,; /]{1,3}-?\d{1,3}\.\d{3,}|\d{1,2}° ?\d{1,2}['′] ?[\d.]*[\"″]? ?[nsew]|plus "
    r"code [a-z0-9+]{6,}"
)
_SERVICE: Final = any_of(
    "github gitlab twitter instagram insta telegram discord slack steam reddit tiktok linkedin skype "
    "snapchat mastodon facebook xbox psn playstation twitch youtube signal wechat weibo line threads bluesky "
    "paypal venmo cashapp zelle medium stackoverflow matrix epic_games battle.net roblox spotify microsoft "
    "google apple icloud"
)
_HANDLE: Final = compiled(
    r"(?:user ?name|user ?id|handle|screen ?name|gamer ?tag|nick ?name on|login(?: name| id)?|account (?:name"
    r"|id)|benutzername|nom d'utilisateur|identifiant|pseudo|nombre de usuario|nome (?:de )?usuario|nome "
    r"utente|gebruikersnaam|nazwa uzytkownika|логин|никнейм|用户名|ユーザー名|ユーザーid|아이디|اسم المستخدم)"
    r"(?: (?:on|at|for|in|auf|bei|sur|en|su|op|na|no|di|de) [\pL.]+)? ?(?:is|are|ist|lautet|est|es|e'?|to|:|="
    r"|：|是|は|는|هو) ?[\"'@`]?[\pL\pN][\pL\pN_.\-]{2,}"
    r"|"
    + _START
    + _SERVICE
    + r" ?(?:\pL+ )?(?:as|is|:|handle|username|account|name|id|under|user)(?: is| as|:| the name| name)? "
    r"?[\"']?(?:@[\pL\pN_.\-]{2,}|[\pL\pN]*[\d_][\pL\pN_.\-]{2,})"
    r"|(?:^|[\s(:])@[a-z0-9_][a-z0-9_.\-]{2,}[^\n]{0,20} on "
    + _SERVICE
    + r"|(?:is|as|handle|add|dm|find (?:me|him|her|them)(?: on \pL+)?(?: as| at)?) @[a-z0-9_.\-]{3,}"
    r"|\pL{3,}#\d{4}"
    + _END
    + r"|(?:github|twitter|x|instagram|linkedin|facebook|t|reddit)\.(?:com|me)/(?:in/|u/)?[\w\-.]{3,}"
)


def find_pii(shown: str, folded: str) -> str | None:
    """Return the name of the first rule that finds PII, or None."""
    return next(pii_in(shown, folded), None)


def pii_in(shown: str, folded: str) -> Iterator[str]:
    """Yield the name of each rule that finds PII. `shown` keeps its case, `folded` is its folded form."""
    if not (_ANY_FOLDED.search(folded) or _ANY_SHOWN.search(shown)):
        return
    if _EMAIL.search(_USER_IN_URL.sub(" ", folded)):
        yield "email"
    for name, pattern, text in _SIMPLE:
        if pattern.search(shown if text == "shown" else folded):
            yield name
    if _has_ip(folded):
        yield "ip"
    if _has_iban(folded):
        yield "iban"
    if _has_dni(folded):
        yield "national_id"
    if _is_beside_id_word(folded):
        yield "identifier"
    yield from _judge_numbers(folded)
    if has_address(shown, _IP.sub(" ", folded)):
        yield "address"


_SIMPLE: Final[tuple[tuple[str, Any, str], ...]] = (
    ("mac", _MAC, "folded"),
    ("birth_date", _BIRTH_DATE, "folded"),
    ("national_id", _FORMATTED_ID, "folded"),
    ("wallet", _WALLET, "shown"),
    ("vehicle", _VIN, "shown"),
    ("vehicle", _PLATE, "folded"),
    ("coordinates", _COORDINATES, "folded"),
    ("account", _HANDLE, "folded"),
    ("spoken_number", _SPOKEN, "folded"),
)
# What every rule begins with, in one pass; an address has a number.
_ANY_FOLDED: Final = either(
    *(pattern for _name, pattern, text in _SIMPLE if text == "folded"),
    *(_EMAIL, _USER_IN_URL, _IP, _IP6, _IBAN, _DNI, _ID_WORD, _NUMBER, compiled(r"\d")),
)
_ANY_SHOWN: Final = either(*(pattern for _name, pattern, text in _SIMPLE if text == "shown"))
# Every name that `pii_in` yields.
PII_RULES: Final = (
    *("email", "phone", "address", "birth_date", "card", "iban", "national_id", "identifier", "account"),
    *("spoken_number", "ip", "mac", "wallet", "vehicle", "coordinates"),
)


def _has_ip(folded: str) -> bool:
    for match in list(_IP.finditer(folded))[:MAX_CANDIDATES]:
        if _VERSION.search(folded[max(0, match.start(1) - 12) : match.start(1)]):
            continue
        if _is_personal_address(match.group(1)):
            return True
    return any(_is_personal_address(match.group(1)) for match in list(_IP6.finditer(folded))[:MAX_CANDIDATES])


def _is_personal_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or text.startswith("255."))


def _has_iban(folded: str) -> bool:
    for match in list(_IBAN.finditer(folded))[:MAX_CANDIDATES]:
        compact = "".join(c for c in match.group(1) if c.isalnum())
        length = _IBAN_LENGTH.get(compact[:2])
        if length and len(compact) >= length and _mod97(compact[:length]) == 1:
            return True
    return False


def _mod97(iban: str) -> int:
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97


def _has_dni(folded: str) -> bool:
    for match in list(_DNI.finditer(folded))[:MAX_CANDIDATES]:
        number, letter = match.groups()
        digits = number.translate(str.maketrans("xyz", "012"))
        if len(digits) == 8 and "trwagmyfpdxbnjzsqvhlcke"[int(digits) % 23] == letter:
            return True
    return False


_ID_VALUE: Final = compiled(r"[a-z0-9]*(?:\d[a-z]{0,3}[ .\-/]?){4,}\d[a-z0-9]*")


def _is_beside_id_word(folded: str) -> bool:
    """Return whether a number of five or more digits that is no date stands near a word for an identifier."""
    for match in list(_ID_WORD.finditer(folded))[:MAX_CANDIDATES]:
        around = folded[max(0, match.start() - 45) : match.end() + 45]
        if _ID_VALUE.search(_DATE.sub(" ; ", around)):
            return True
    return False


def _judge_numbers(folded: str) -> Iterator[str]:
    for match in list(_NUMBER.finditer(folded))[:MAX_CANDIDATES]:
        written = match.group()
        before = folded[max(0, match.start() - 60) : match.start()]
        after = folded[match.end() : match.end() + 40]
        if _is_card(written, bool(_CARD_WORD.search(before) or _CARD_WORD.search(after))):
            yield "card"
            continue
        if _DATE.search(written) and len(written) <= 12:
            continue
        if _is_phone(written, before, after):
            yield "phone"


def _is_card(written: str, has_word: bool) -> bool:
    """Return whether digits hold a card number: issuer prefix and Luhn, from the start of a group of digits."""
    starts = [i for i, c in enumerate(written) if c.isdigit() and (i == 0 or not written[i - 1].isdigit())]
    for start in starts[:12]:
        digits = "".join(c for c in written[start:] if c.isdigit())
        if has_word and 13 <= len(digits) <= 19:
            return True
        for length in (16, 15, 14, 13, 19):
            if len(digits) >= length and _is_issued(digits[:length]) and _luhn(digits[:length]):
                return True
    return False


def _is_issued(digits: str) -> bool:
    """Return whether an issuer gives out cards with this prefix and length."""
    two, four, length = int(digits[:2]), int(digits[:4]), len(digits)
    return (
        (digits[0] == "4" and length in (13, 16, 19))
        or (length == 16 and (51 <= two <= 55 or 2221 <= four <= 2720 or two in (35, 50, 60, 62, 64, 65)))
        or (length == 15 and two in (34, 37))
        or (length == 14 and two in (30, 36, 38, 39))
    )


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_phone(written: str, before: str, after: str) -> bool:
    digits = sum(c.isdigit() for c in written)
    if not 6 <= digits <= 15 or _NOT_A_PHONE.search(before):
        return False
    if written.startswith("+") or (written.startswith("00") and digits >= 10):
        return digits >= 8
    if _NORTH_AMERICAN.search(written):
        return True
    if _PHONE_WORD.search(before[-40:]) or _PHONE_WORD.search(after[:16]):
        return digits >= 7
    return written[0] in "0(" and digits >= 9 and len(written) > digits and _is_valid_somewhere(written)


def _is_valid_somewhere(written: str) -> bool:
    for region in _PHONE_REGIONS:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(written, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False
