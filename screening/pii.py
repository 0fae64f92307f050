"""Find data that identifies or reaches a person (SECURITY.md: what counts as PII); must not look anything up."""

import ipaddress
from typing import Any, Final

import phonenumbers
from screening.text import compiled, any_of

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
MAX_CANDIDATES: Final = 60  # numbers of one text that are looked at; a fact has one or two

_EMAIL: Final = compiled(
    r"[\pL\pN._%+\-]+ ?@ ?[\pL\pN\-]+(?: ?\. ?[\pL\pN\-]+)*\.[\pL]{2,}"
    r"|[\pL\pN._%+\-]+ ?[\[({<] ?(?:at|@|arroba|ät) ?[\])}>] ?[\pL\pN\-]+ ?(?:[\[({<] ?(?:dot|punkt|punto|point|ponto|\.) ?[\])}>]|\.| dot ) ?[\pL]{2,}"
    r"|[\pL\pN._%+\-]+ (?:at|arroba|chiocciola|arobase|klammeraffe|malpa) [\pL\pN\-]+(?: ?(?:dot|punkt|punto|point|ponto|kropka) [\pL\pN\-]+)* ?(?:dot|punkt|punto|point|ponto|kropka) [\pL]{2,}"
    r"|[\pL\pN]*[._\d][\pL\pN._]* at [\pL\pN\-]+\.(?:com|net|org|de|fr|io|example|co\.uk)(?:$|[^\pL\pN])"
    r"|(?:mail|contact)[^\n]{0,30} [\pL\pN._]+ at [\pL\pN\-]+\.(?:com|net|org|de|fr|io|example)"
)
_USER_IN_URL: Final = compiled(r"[a-z][a-z0-9+.\-]+://[^\s@]*@[^\s]+")  # the secrets' business
_NUMBER: Final = compiled(r"\+?\(?\d(?:[ ().\-/]{0,3}\d){5,30}")
_PHONE_WORD: Final = compiled(
    _START
    + any_of(
        "phone* telephone* mobile cell cellphone tel call calls* text texts sms whatsapp signal telegram viber reach* contact* fax ring landline "
        "extension dial telefon* handy* mobil* nummer rufnummer anrufen telefono movil celular llam* telemovel telefone* numero_de_tel* portable joignable "
        "appel* cellulare chiam* nummer gsm bellen komork* dzwon* телефон* звон* номер* мобильн* 电话 電話 手机 手機 号码 携帯 전화 휴대폰 연락처 هاتف* جوال* الهاتف رقم "
        "फोन मोबाइल my_number his_number her_number their_number user's_number contact_number emergency_contact"
    )
    + "|(?:电话|電話|手机|手機|携帯|전화|휴대폰|번호|号码)"
)
_NORTH_AMERICAN: Final = compiled(r"^(?:\+?1[ .\-]?)?(?:\(\d{3}\) ?|\d{3}[.\- ])\d{3}[.\- ]\d{4}$")
_PHONE_REGIONS: Final = ("US", "GB", "DE", "FR", "IT", "ES", "PT", "NL", "PL", "AT", "CH", "BE", "SE", "BR", "MX", "IN", "CN", "JP", "KR", "AU", "RU", "TR", "SA", "EG", "AE", "IL")  # fmt: skip
_NOT_A_PHONE: Final = compiled(
    r"isbn|issn|ean|upc|\bsku|part n|order|ticket|version|\brfc\b|invoice|serial|build|release|iso \d|model"
)
_DIGIT_WORD: Final = any_of(
    "zero oh one two three four five six seven eight nine double null eins zwei drei vier funf sechs sieben acht neun un deux trois quatre cinq "
    "sept huit neuf cero uno dos tres cuatro cinco seis siete ocho nueve um dois quatro sete oito nove due quattro cinque sei sette otto "
    "een twee drie vijf zes zeven acht negen jeden dwa trzy cztery piec szesc siedem osiem dziewiec"
)
_SPOKEN: Final = compiled(_START + r"(?:" + _DIGIT_WORD + r"[ ,\-]+){6,}" + _DIGIT_WORD + _END)

_CARD_WORD: Final = compiled(_START + any_of("card* visa mastercard amex american_express maestro discover diners jcb kreditkarte* kartennummer carte tarjeta* cartao carta creditcard karta karty карта карты 信用卡 カード 카드 بطاقة debit credit") + _END + "|信用卡|カード|카드")  # fmt: skip
_IBAN: Final = compiled(_START + r"([a-z]{2}\d{2}(?:[ \-]?[a-z0-9]){11,36})")
_IBAN_LENGTH: Final = {
    "ad": 24, "ae": 23, "al": 28, "at": 20, "az": 28, "ba": 20, "be": 16, "bg": 22, "bh": 22, "br": 29, "by": 28, "ch": 21,
    "cr": 22, "cy": 28, "cz": 24, "de": 22, "dk": 18, "do": 28, "ee": 20, "eg": 29, "es": 24, "fi": 18, "fo": 18, "fr": 27,
    "gb": 22, "ge": 22, "gi": 23, "gl": 18, "gr": 27, "gt": 28, "hr": 21, "hu": 28, "ie": 22, "il": 23, "iq": 23, "is": 26,
    "it": 27, "jo": 30, "kw": 30, "kz": 20, "lb": 28, "lc": 32, "li": 21, "lt": 20, "lu": 20, "lv": 21, "mc": 27, "md": 24,
    "me": 22, "mk": 19, "mr": 27, "mt": 31, "mu": 30, "nl": 18, "no": 15, "pk": 24, "pl": 28, "ps": 29, "pt": 25, "qa": 29,
    "ro": 24, "rs": 22, "sa": 24, "sc": 31, "se": 24, "si": 19, "sk": 24, "sm": 27, "sv": 28, "tl": 23, "tn": 24, "tr": 26,
    "ua": 29, "va": 22, "vg": 24, "xk": 20,
}  # fmt: skip

# Words that say "a number that names one person or account follows".
_ID_WORD: Final = compiled(
    _START + any_of(
        "ssn social_security* sozialversicherung* svnr national_id* national_insurance* national_identi* nino nif nie dni bsn burgerservicenummer pesel nip aadhaar aadhar "
        "codice_fiscale cpf cnpj curp rfc:* rut cedula nin tax_id* tax_number taxpayer* steuer-id* steuer_id* steueridentifikation* steuernummer itin vat* ust-id* "
        "ustid* mwst* numero_fiscal* partita_iva numero_de_tva tva passport* reisepass* passeport* pasaporte* passaporto passaporte paspoort* paszport* паспорт* "
        "driver*_licen* driver's_licen* driving_licen* license_number licence_number fuhrerschein* permis_de_conduire carnet_de_conducir licencia_de_conducir patente carteira_de_motorista "
        "rijbewijs* prawo_jazdy id_card id_number identity_card identity_number personalausweis* ausweisnummer carte_d'identite carta_d'identita cedula_de_* documento_de_identidad "
        "dowod_osobist* medicare medicaid nhs mrn medical_record* patient_id patient_number health_insurance* insurance_number insurance_id versichertennummer krankenversicherung* "
        "policy_number numero_de_securite* securite_sociale nir seguridad_social account_number account_no account_# account_is bank_account* checking_account* savings_account* acct* konto kontonummer* "
        "numero_de_cuenta cuenta_bancaria numero_de_compte compte_bancaire conto_corrente numero_di_conto conta_bancaria conta_corrente rekeningnummer bankrekening numer_konta rachun* "
        "routing* sort_code aba bic swift blz bankleitzahl clabe iban ifsc bsb card_number personnummer personal_number cpr henkilotunnus fodselsnummer rodne_cislo egn cnp oib jmbg amka инн снилс "
        "chassis imei imsi iccid serial_number_of_* customer_id customer_number kundennummer employee_id employee_number student_id student_number "
        "matrikelnummer member_id membership_number membership_id loyalty_number frequent_flyer* visa_number green_card alien_number case_number beneficiary* subscriber_id "
        "npi dea_number voter_id pan_number pan_card gstin sin_number tfn abn"
    ) + _END + "|身份证|身分證|护照|護照|社保|マイナンバー|旅券|免許証|口座番号|银行账号|账号|주민등록|여권|운전면허|계좌|رقم الهوية|جواز|رقم الحساب|आधार|पासपोर्ट"
)  # fmt: skip
_DATE_TEXT: Final = (
    r"(?:\d{1,2}(?:st|nd|rd|th|er|º|\.)? ?(?:de |of )?(?:jan|feb|fev|fevr|marz|mar|mars|mae|apr|avr|abr|may|mai|maj|mei|mag|jun|juin|giu|jul|juil|lug|lip|aug|aou|ago|sie|sep|set|wrz|oct|okt|out|ott|paz|nov|lis|dec|dez|dic|gru|ene|kwi|cze|sty|lut|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)\pL*\.?,? ?(?:de |del )?(?:19|20)\d\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
    r"|(?:0?[1-9]|[12]\d|3[01]) ?[./\-] ?(?:0?[1-9]|[12]\d|3[01]) ?[./\-] ?(?:(?:19|20)\d\d|\d\d)|(?:19|20)\d\d ?[./\-] ?(?:0?[1-9]|1[0-2]) ?[./\-] ?(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:19|20)\d\d ?年 ?\d{1,2} ?月 ?\d{1,2} ?日|(?:19|20)\d\d년 ?\d{1,2}월 ?\d{1,2}일)"
)
_DATE: Final = compiled(_DATE_TEXT)
_BIRTH: Final = any_of(
    "born birth birthday birthdate birth-date date_of_birth dob d.o.b* geboren geburtstag geburtsdatum ne nee naissance anniversaire nacio nacido nacida nacimiento "
    "cumpleanos nasceu nascido nascida nascimento aniversario nato nata nascita compleanno geboortedatum verjaardag urodzon* urodzin* родил* рождени* dogum* "
    "出生 生日 生年月日 誕生日 生まれ 생년월일 생일 태어 الميلاد مولود ولد जन्म fodd fodt syntynyt narozen* szuletett nascut*"
)
_BIRTH_DATE: Final = compiled(rf"{_BIRTH}[^\n]{{0,50}}?{_DATE_TEXT}|{_DATE_TEXT}[^\n]{{0,30}}?{_BIRTH}")

_FORMATTED_ID: Final = compiled(
    _START
    + r"(?:\d{3}-\d{2}-\d{4}|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}|[a-z]{6}\d{2}[a-ehlmprst]\d{2}[a-z]\d{3}[a-z]"
    r"|[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d]|[a-z]{4}\d{6}[hm][a-z]{5}[a-z0-9]\d|[a-z]{5}\d{4}[a-z]|\d{6}[-+]\d{4}|[12] ?\d{2} ?[01]\d ?\d{2} ?\d{3} ?\d{3} ?\d{2}"
    r"|(?:atu\d{8}|de\d{9}|be[01]\d{9}|nl\d{9}b\d{2}|es[a-z]\d{7}[a-z0-9]|it\d{11}|fr[a-z0-9]{2}\d{9}|pl\d{10}|pt\d{9}|gb\d{9}|che-?\d{3}\.?\d{3}\.?\d{3}))"
    + _END
)
_DNI: Final = compiled(_START + r"([xyz]?\d{7,8})[ \-]?([a-z])" + _END)
_VIN: Final = compiled(r"\b[A-HJ-NPR-Z0-9]{17}\b")
_PLATE: Final = compiled(
    _START + any_of("licen?e_plate* plate* number_plate* registration kennzeichen nummernschild autokennzeichen plaque* immatriculation matricula* placa* targa kenteken* tablica* tablice_rejestracyjne rejestrac* номер_машины госномер 车牌 ナンバープレート plaka")
    + r"[^\n]{0,25}?" + _START + r"(?:[a-z]{1,4}[ \-]?(?:[a-z]{1,2}[ \-]?)?\d{1,4}[ \-]?[a-z]{0,3}|\d{1,4}[ \-]?[a-z]{1,3}[ \-]?\d{0,4})" + _END + "|车牌[^\n]{0,6}[a-z0-9]{4,}"
)  # fmt: skip
_IP: Final = compiled(r"(?:^|[^\d.\pL])(\d{1,3}(?:\.\d{1,3}){3})(?:$|[^\d.]|\.(?:$|[^\d]))")
_VERSION: Final = compiled(r"(?:version|release|build|firmware|chrome|driver|update|patch|v)\.? ?$")
_IP6: Final = compiled(
    r"(?:^|[^:\pL\pN])((?:[0-9a-f]{1,4}:{1,2}){2,7}[0-9a-f]{1,4}|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5}::)(?:$|[^:\pL\pN]|/)"
)
_MAC: Final = compiled(
    r"(?:^|[^0-9a-f:\-])[0-9a-f]{2}(?:[:\-][0-9a-f]{2}){5}(?:$|[^0-9a-f:\-])|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}"
)
_WALLET: Final = compiled(
    r"\b(?:bc1[a-z0-9]{25,60}|ltc1[a-z0-9]{25,60}|addr1[a-z0-9]{40,110}|0x[0-9a-fA-F]{40}|[13][1-9A-HJ-NP-Za-km-z]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33}|[48][1-9A-HJ-NP-Za-km-z]{94}|r[1-9A-HJ-NP-Za-km-z]{24,34}|D[1-9A-HJ-NP-Za-km-z]{33}|cosmos1[a-z0-9]{38})\b"
)
_COORDINATES: Final = compiled(
    r"-?\d{1,2}\.\d{3,}°? ?[ns]?[,; /]{1,3}-?\d{1,3}\.\d{3,}|\d{1,2}° ?\d{1,2}['′] ?[\d.]*[\"″]? ?[nsew]|plus code [a-z0-9+]{6,}"
)
_SERVICE: Final = any_of("github gitlab twitter instagram insta telegram discord slack steam reddit tiktok linkedin skype snapchat mastodon facebook xbox psn playstation twitch youtube signal wechat weibo line threads bluesky paypal venmo cashapp zelle medium stackoverflow matrix epic_games battle.net roblox spotify microsoft google apple icloud")  # fmt: skip
_HANDLE: Final = compiled(
    r"(?:user ?name|user ?id|handle|screen ?name|gamer ?tag|nick ?name on|login(?: name| id)?|account (?:name|id)|benutzername|nom d'utilisateur|identifiant|pseudo|nombre de usuario|nome (?:de )?usuario|nome utente|gebruikersnaam|nazwa uzytkownika|логин|никнейм|用户名|ユーザー名|ユーザーid|아이디|اسم المستخدم)"
    r"(?: (?:on|at|for|in|auf|bei|sur|en|su|op|na|no|di|de) [\pL.]+)? ?(?:is|are|ist|lautet|est|es|e'?|to|:|=|：|是|は|는|هو) ?[\"'@`]?[\pL\pN][\pL\pN_.\-]{2,}"
    r"|" + _START + _SERVICE + r" ?(?:\pL+ )?(?:as|is|:|handle|username|account|name|id|under|user)(?: is| as|:| the name| name)? ?[\"']?(?:@[\pL\pN_.\-]{2,}|[\pL\pN]*[\d_][\pL\pN_.\-]{2,})"
    r"|(?:^|[\s(:])@[a-z0-9_][a-z0-9_.\-]{2,}[^\n]{0,20} on " + _SERVICE + r"|(?:is|as|handle|add|dm|find (?:me|him|her|them)(?: on \pL+)?(?: as| at)?) @[a-z0-9_.\-]{3,}|\pL{3,}#\d{4}" + _END
    + r"|(?:github|twitter|x|instagram|linkedin|facebook|t|reddit)\.(?:com|me)/(?:in/|u/)?[\w\-.]{3,}"
)  # fmt: skip

# Addresses need capitals, so they run on the visible text.
_SUFFIX: Final = (
    r"(?:Street|St|Avenue|Ave?|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Drv?|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Ter|Crescent|Cres|Grove|Circle|Cir|Highway|Hwy"
    r"|Parkway|Pkwy|Close|Alley|Row|Mews|Hills?|Trail|Trl|Neck|Oval|Mills?|Loop|Path|Pike|Plaza|Point|Points|Port|Ports|Prairie|Radial|Ranch|Rapids?|Ridges?|River|Route"
    r"|Run|Shoals?|Shores?|Skyway|Springs?|Spurs?|Station|Stream|Summit|Throughway|Trace|Track|Trafficway|Tunnel|Turnpike|Underpass|Unions?|Valleys?|Viaduct|Views?"
    r"|Villages?|Ville|Vista|Walks?|Wall|Wells?|Bluffs?|Bend|Bridge|Brooks?|Burgs?|Bypass|Camp|Canyon|Cape|Causeway|Centers?|Centre|Cliffs?|Club|Common|Corners?|Course"
    r"|Coves?|Creek|Crest|Crossing|Crossroad|Curve|Dale|Dam|Divide|Estates?|Expressway|Extensions?|Falls?|Ferry|Fields?|Flats?|Fords?|Forest|Forges?|Forks?|Fort|Freeway"
    r"|Gardens?|Gateway|Glens?|Greens?|Groves|Harbors?|Haven|Heights|Hollow|Inlet|Islands?|Isle|Junctions?|Keys?|Knolls?|Lakes?|Land|Landing|Light|Loaf|Locks?|Lodge|Mall"
    r"|Manors?|Meadows?|Mission|Motorway|Mount|Mountains?|Orchard|Overpass|Parks?|Parkways|Pass|Passage|Pines?|Plains?|Parade|Quay|Wharf|Gate|Yard)"
)
_ADDRESS: Final = compiled(
    # number, name, kind of street
    r"\b\d{1,6}[A-Za-z]?(?:[/-]\d{1,4})?,? (?:(?:North|South|East|West|[NSEW])\.? )?(?:(?:[A-Z][\pL'’.\-]*|\d{1,3}(?:st|nd|rd|th)|of|the|de|la|del|Old|St\.) ){1,4}"
    + _SUFFIX
    + r"\b\.?"
    r"|\b\d{1,5}[a-z]? (?:[\pL'’\-]+ ){1,2}(?:street|avenue|boulevard|blvd|crescent)\b"
    # German, Dutch, Nordic, Hungarian: name with kind, then number
    r"|\b[A-ZÄÖÜ][\pL.\-]*(?:stra(?:ss|ß)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|steig|chaussee|berg|hof|markt|graben|promenade|steeg|straat|laan|plein|gracht|kade|dijk|singel|pad|dreef|gatan|gata|vagen|vägen|veien|vegen|vej|gade|alle|stien|katu|tie|kuja)(?: |, )\d{1,4}(?: ?[a-zA-Z])?\b"
    r"|\b[\pL.\-]+(?:strasse|straße|straat|gracht|gatan|utca) \d{1,4}\b|\b(?:Am|An der|An den|Im|In der|Auf der|Auf dem|Zum|Zur|Unter den|Beim|Vor dem) [A-ZÄÖÜ]\pL+ \d{1,4}[a-z]?\b(?:,? \d{4,5})?"
    r"|\b[\pL]+ (?:Stra(?:ss|ß)e|Platz|Allee|Weg|Gasse|Ring|Ufer|Damm|Chaussee|utca|út|tér|caddesi|sokak|sokağı|Cad\.|Sok\.) (?:No:? ?)?\d{1,4}[a-z]?\b"
    # Romance and Slavic: kind, name, number, or number before
    r"|\b\d{1,4}(?: ?(?:bis|ter|[a-zA-Z]))?,? (?i:rue|avenue|av\.|boulevard|bd|allee|allée|chemin|impasse|quai|place|cours|passage|route|ruelle|square) (?:(?i:de|du|des|la|le|les|l'|d'|de la) ?)*[\pL\-'’]+"
    r"|\b(?i:calle|c/|avenida|avda\.?|av\.|paseo|plaza|carrera|cra\.?|camino|ronda|travesia|rua|r\.|travessa|praca|praça|alameda|estrada|largo|viale|piazza|corso|vicolo|strada|contrada|stretto|rotonda|borgo|canale|ulica|ul\.|aleja|aleje|al\.|plac|pl\.|os\.|osiedle|улица|ул\.|проспект|пр\.|переулок|бульвар|площадь|strada|bulevardul|calea|οδος) [^\n\d]{2,50}?,? ?(?i:n\.?[oº°]?\.? ?|д\. ?|nr\.? ?|num\. ?|numero )?\d{1,5}\b"
    r"|\bVia [A-Z\pL'’. ]{2,40}?,? ?(?:n\. ?)?\d{1,3}\b"
    # what follows a street: floor or flat beside a number, postal code and city, state and ZIP, UK postcode
    r"|\b\d{1,6}\b[^\n]{3,50}\b(?i:apt|apartment|suite|ste|unit|flat)\.? ?#?\d{1,5}\b|\b(?i:apt|suite|unit|flat)\.? ?#?\d{1,5},? \d{1,6}\b"
    r"|[\pL.'’)\-]{2,} \d{1,4} ?[a-zA-Z]?(?:[/-]\d+)?,? (?:[A-Z]{1,3}-)?\d{4,5}(?:-\d{3,4})?(?: ?[A-Z]{2})?,? [A-Z\pL][\pL]{2,}|[\pL.'’)\-]{2,} \d{1,4} ?[a-zA-Z]?(?:[/-]\d+)?,? \d{2}-\d{3} [A-Z\pL]"
    r"|\b[A-Z][\pL.'’ \-]+,? (?:A[LKZR]|C[AOT]|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY]|DC|PR),? \d{5}(?:-\d{4})?\b"
    r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}\b|\b[A-CEGHJ-NPR-TVXY]\d[A-Z] \d[A-Z]\d\b|(?i:p\.? ?o\.? box|postfach|apartado|boite postale|skrytka) \d+"
    # East Asia
    r"|[\p{Han}]{1,10}(?:路|街|道|巷|弄|胡同)[\p{Han}]{0,6}\d+ ?[号號]|[\p{Han}\p{Katakana}\p{Hiragana}]+(?:市|区|町|村|郡)[^\n]{0,20}?\d+(?:丁目|番|-\d+)|[\p{Hangul}]+(?:로|길) ?\d+(?:번길 ?\d+)?(?:$|[^\d년월일])"
)
_ADDRESS_WORD: Final = compiled(
    _START
    + r"(?:(?:home|new|old|my|his|her|their|postal|mailing|billing|shipping|delivery|street|exact|full|current) address(?:es)?|address(?:es)? ?(?:is|are|:|was)|lives? (?:at|in) (?:no\.? ?)?\d|resides? at|deliver(?:ed)? to|ship(?:ped)? (?:\pL+ )?to|wohnt (?:in der|im|am|in)|anschrift|adresse|direccion|domicilio|indirizzo|endereco|morada|adres|адрес|住所|地址|주소|عنوان)"
    r"[^\n]{0,30}?\d{1,5}(?:[ ,/\-][^\n]{0,60}\pL{3,}|$)"
)


def find_pii(shown: str, folded: str) -> str | None:
    """Return the name of the rule that finds PII, or None. `shown` keeps its case, `folded` is its folded form."""
    if _EMAIL.search(_USER_IN_URL.sub(" ", folded)):
        return "email"
    for name, pattern, text in _SIMPLE:
        if pattern.search(shown if text == "shown" else folded):
            return name
    if _has_ip(folded):
        return "ip"
    if _has_iban(folded):
        return "iban"
    if _has_dni(folded):
        return "national_id"
    if _is_beside_id_word(folded):
        return "identifier"
    if rule := _judge_numbers(folded):
        return rule
    return "address" if _has_address(shown, folded) else None


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


def _judge_numbers(folded: str) -> str | None:
    for match in list(_NUMBER.finditer(folded))[:MAX_CANDIDATES]:
        written = match.group()
        before = folded[max(0, match.start() - 60) : match.start()]
        after = folded[match.end() : match.end() + 40]
        if _is_card(written, bool(_CARD_WORD.search(before) or _CARD_WORD.search(after))):
            return "card"
        if _DATE.search(written) and len(written) <= 12:
            continue
        if _is_phone(written, before, after):
            return "phone"
    return None


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


def _has_address(shown: str, folded: str) -> bool:
    return bool(_ADDRESS.search(shown)) or bool(_ADDRESS_WORD.search(_IP.sub(" ", folded)))
