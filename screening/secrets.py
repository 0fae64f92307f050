"""Find secrets in one text: keys, tokens, passwords, codes, seed phrases; must not say which one it found."""

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

from screening.text import compiled, either, fold_visible, unspaced, word_set

MIN_SEED_WORDS: Final = 6
MAX_TOKENS: Final = 200  # a text of 4,000 characters holds fewer tokens of 16 characters than this

# Shapes that providers publish. Case matters, so these run on the visible text, not on the folded one.
_SHAPES: Final = compiled(
    r"(?:^|[^A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-[\w-]{16,}"
    r"|(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}"
    r"|sk-(?:ant-|proj-|or-|svcacct-|admin-|None-)?[\w-]{20,}|[srp]k_(?:live|test|prod)_\w{10,}|whsec_\w{16,}"
    r"|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|xoxe\.xox[bp]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}"
    r"|GOCSPX-[\w-]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32}|npm_\w{30,}|pypi-[\w-]{40,}|hf_[A-Za-z]{20,}|hf_\w{30,}"
    r"|d(?:op|oo|or)_v1_[0-9a-f]{40,}|shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{24,}|PMAK-[\w-]{30,}|lin_(?:api|oauth)_\w{20,}"
    r"|ntn_\w{30,}|secret_[A-Za-z0-9]{40,}|gsk_\w{30,}|pplx-\w{30,}|r8_\w{30,}|xai-\w{30,}|fw_\w{20,}|nvapi-[\w-]{30,}"
    r"|AGE-SECRET-KEY-1\w{20,}|EAA[A-Za-z0-9]{40,}|sq0(?:atp|csp|idp)-[\w-]{20,}|EAAA[\w-]{50,}|key-[0-9a-f]{32}"
    r"|[0-9a-f]{32}-us\d{1,2}|dckr_(?:pat|oat)_[\w-]{20,}|hv[sbr]\.[\w-]{20,}|atlasv1\.[\w-]{20,}"
    r"|\w{14}\.atlasv1\.[\w-]{20,}"
    r"|ATATT3[\w=-]{30,}|ATCTT3[\w=-]{30,}|dapi[0-9a-f]{32}|glc_[\w=+/]{20,}|glsa_\w{30,}|NRAK-\w{20,}"
    r"|sntry[su]_[\w=+/]{20,}"
    r"|figd_[\w-]{20,}|pscale_\w{4,8}_[\w.-]{20,}|rubygems_[0-9a-f]{30,}|sbp_[0-9a-f]{30,}|tfp_\w{30,}|vercel_\w{20,}"
    r"|dnkey-[\w=-]{20,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{30,}|CFPAT-[\w-]{30,}|pul-[0-9a-f]{30,}|rdme_\w{40,}"
    r"|tskey-[\w-]{16,}|rnd_\w{20,}|fly?o1_[\w-]{20,}|FlyV1 fm\w_[\w+/=,]{20,}|doppler_\w{20,}|lsv2_\w{2}_\w{20,}"
    r"|phc_\w{30,}|phx_\w{30,}|waka_[\w-]{30,}|cio[a-z0-9]{30,}|jv?[0-9]{1,2}_\w{40,}"
    r"|[MNOR][\w-]{22,25}\.[\w-]{6}\.[\w-]{24,}"
    r"|\d{8,10}:AA[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}|ops_eyJ[\w-]{20,}|[0-9a-f]{8}:[0-9a-f]{8}(?:$|\W)"
    r")"
)
_MARKS: Final = compiled(
    r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY|-----BEGIN (?:PGP|OPENSSH|ENCRYPTED)|PuTTY-User-Key-File"
    r"|AccountKey=[\w+/=]{20,}|SharedAccessKey=|SharedAccessSignature|[?&]sig=[\w%+/=-]{20,}"
    r"|hooks\.slack\.com/(?:services|workflows)/\w+/\w+|discord(?:app)?\.com/api/webhooks/\d+/|\.webhook\.office\.com/"
    r"|[?&](?:access_token|api_?key|token|auth|secret|password)=[^\s&]{8,}"
)
# The password in an address may hold nearly anything, so the last @ before a space ends it.
_CREDENTIALS: Final = compiled(r"[a-z][a-z0-9+.\-]{1,20}://[^\s:/@]*:[^\s]+@[^\s]")
_HEADER: Final = compiled(
    r"(?:authorization|x-[a-z\-]{0,20}(?:key|token|auth|secret)|proxy-authorization|set-cookie|cookie)[\"']? "
    r"?[:=] ?[\"']?\S{8,}"
    r"|\b(?:bearer|basic) [a-z0-9._~+/\-]{16,}=*"
)
_KEYWORD: Final = (
    r"(?:(?:secret|security) answer|safe ?word|pass ?words?|pass ?phrases?|pass ?codes?|passwd|pwd|pw"
    r"|(?:admin|root|wi-?fi|login|master|user|db) pass"
    r"|pass ?wort|kennwort|passwoerter|losung|mots? de passe|mdp|contrasenas?|clave(?: de (?:acceso|wifi))?|senhas?"
    r"|palavra-?passe|parola(?: d'ordine| chiave)?|hasl[oa]|wachtwoord(?:en)?|losenord(?:et)?|passord(?:et)?"
    r"|adgangskode"
    r"|sifre(?:m|si)?|jelszo|heslo|salasana|парол\pL*|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|كلمه? "
    r"?(?:المرور|السر)|كلمة (?:المرور|السر)"
    r"|पासवर्ड|mat khau|kata sandi|סיסמה|סיסמא|رمز عبور|رمز عبوری?|รหัสผ่าน|κωδικος)"
)
_LINK: Final = (
    r"(?: ?(?:=>|->|→|[:=：])|,? (?:is|are|was|ist|lautet|war|heisst|est|c'est|es|e'?|era|to|jest|brzmi|ar|er"
    r"|on|este|je"
    r"|set to|changed to|equals)| ?(?:是|为|為|は|が|은|는|이|가|هي|هو|है|la|adalah|это|-|—)) ?(?:still |now "
    r"|always |jetzt |immer )?"
)
_VALUE: Final = r"[\"'`«“‘「『]?([^\s\"'`»”’」』]{3,})"
_PASSWORD_IS: Final = compiled(r"(?:^|[^\pL])" + _KEYWORD + r"([^\n.:=]{0,40}?)" + _LINK + _VALUE)
# No "is" between: a quoted phrase, or a token of letters and digits within a few words.
_PASSWORD_BESIDE: Final = compiled(
    r"(?:^|[^\pL\pN])"
    + _KEYWORD
    + r"((?: [\pL/]+){0,3}) (?:\"[^\"\n]{4,}\"|'[^'\n]{4,}'|[^\s\d]*\pL[^\s\d]*\d[^\s]*|\d[^\s]*\pL[^\s]{3,})"
)
_ABOUT_PASSWORDS: Final = compiled(
    r"manag|polic|app\b|vault|generat|tool|hygiene|reset|field|form\b|protect|list|strength|length|rule|hash"
    r"|database|storage"
)
_ASSIGNED: Final = compiled(
    r"(?i)[a-z0-9_\-]*(?:secret|token|api_?-?key|access_?key|private_?key|passw|passwd|pwd"
    r"|credential)[a-z0-9_\-]*[\"']? ?(?:=|:=|=>|:) ?(?:[\"'][^\s\"']{6,}[\"']|[^\s\"']*\d[^\s\"']{7,})"
    r"|[A-Z][A-Z0-9_]*(?:SECRET|TOKEN|KEY|PASSWORD|PASSWD|PWD)[A-Z0-9_]*=[^\s]{6,}"
)
_AS_PASSWORD: Final = compiled(
    r"([^\s]{3,}?)[\"'`»”’」』]? (?:as|als|comme|como|come|jako|som|for|като) (?:(?:his|her|their|the|my|our"
    r"|a|an|sein|ihr|mein|son|sa|mon|su|mi"
    r"|sua|seu|minha|meu|la|il|haar|zijn|mijn)\pL{0,3} )?(?:\pL+ ){0,2}?"
    + _KEYWORD
    + r"(?:$|[^\pL]| [^mphgvs]| for| everywhere)"
)
_LOGS_IN_WITH: Final = compiled(
    r"(?:logs? (?:in|on)|signs? in|unlocks?|authenticates?|opens?)[^\n]{0,40} (?:with|using|by typing|by entering) "
    + _VALUE
)
_NO_VALUE: Final = word_set(
    """
    the that this too very not never always stored kept saved shared hashed encrypted reset changed rotated
    needed required used managed generated handled long short strong weak old new hard easy different same
    unique safe secure secret unknown expired wrong correct right forgotten lost hidden written what why how
    when where who important bad good enough being been only all also about from with for and but yet still
    protected stolen leaked compromised something someone nothing anything sicher lang kurz stark schwach alt
    neu vergessen gespeichert geandert immer nicht tres fort faible long oublie change toujours pas muy fuerte
    debil larga corta olvidada siempre muito forte fraca molto debole sempre non zbyt silne slabe zawsze nie
    heel sterk zwak lang altijd niet at least over under exactly case-sensitive single-use one-time two-factor
    pass-through up-to-date out-of-date sent
    """
)
_CODE: Final = compiled(
    r"(?:^|[^\pL])(?:pin(?: ?(?:code|number|nummer))?|(?:door|gate|alarm|access|unlock|safe|lock|entry|garage|security"
    r"|verification|backup|recovery|house|building|gym|locker|phone|screen|vault|elevator|keypad|2fa|mfa|otp"
    r"|sms|login|confirmation"
    r"|authentication|suitcase|luggage|card) (?:\pL+ )?(?:code|codes|combination|combo|pin)|combination(?: "
    r"(?:to|of|for) [\pL' ]{1,30})?"
    r"|cvv2?|cvc2?|otp|one[- ]time (?:code|password)|turcode|zugangscode|safe-?code|alarmcode|tan|geheimzahl"
    r"|code pin|digicode"
    r"|code d'(?:acces|entree)|codigo (?:de (?:acceso|seguridad|acesso|la puerta|la alarma)|pin)|codice "
    r"(?:pin|di (?:accesso|sicurezza)|del(?:la|l')?[ \pL]{0,20})"
    r"|kod (?:do|pin|dostepu)[ \pL]{0,20}|toegangscode|пин-?код|код (?:от|доступа|домофона)[ \pL]{0,20}"
    r"|验证码|暗証番号|비밀번호|الرقم السري|رمز)"
    r"(?:'s)?(?: (?:for|of|to|on|fur|vom|zum|de|da|del|della|voor)(?: [\pL']+){1,4}?)?"
    r"(?: ?[:=#：]| (?:is|are|ist|lautet|est|es|e'?|to|jest|was|now|number)| ?(?:是|は|은|는|هو))? ?(?:now "
    r"|still )?#?(\d(?:[ \-]?\d){2,11}|[a-z0-9]*\d[a-z0-9]*-[a-z0-9\-]{3,12})(?:$|[^\d.:/])"
)
_YEARISH: Final = compiled(r"^(?:19|20)\d\d$")
_SEED_WORD: Final = compiled(
    r"(?:seed|recovery|mnemonic|backup|wallet|secret|wiederherstellungs|recuperacion|recuperation|recupero"
    r"|recuperacao|bip-?39)[ \-]?(?:phrase|words?|seed|worte|phrase|frase|key)?"
    r"|(?:phrase|frase) (?:de|di) \pL+|mnemonic|助记词|ニーモニック|시드"
)
_WORD: Final = compiled(r"[\pL\d'’]+")
_ENGLISH_GLUE: Final = word_set(
    """
    a an the and or but of to in on at by for from with is are was were be been has have had do does did not no
    i he she it we you they his her its our their my your me him us them this that who which when where as if
    than then so up out about into over after also very all
    """
)
_GATE: Final = compiled(
    r"token|secret|passw|pwd|api.?key|apikey|\bkeys?\b|_key|credential|\bauth|bearer|webhook|signature"
    r"|client.?id|session|cookie"
    r"|license|licence|activation|serial|schlussel|geheim|\bcle\b|jeton|clave|llave|chave|chiave|segret"
    r"|secret|sleutel|klucz|tajn|ключ|токен|секрет|密钥|密鑰|令牌|私钥|キー|トークン|シークレット|키|토큰"
    r"|مفتاح|رمز"
)
_TOKEN: Final = compiled(r"[A-Za-z0-9_+/=.~\-]{12,}")
_DIGIT: Final = re.compile("[0-9]")  # visible text has no others
_DATED: Final = compiled(r"(?:19|20)\d\d-\d\d|^[a-zA-Z]+[.\-_]?\d{1,4}$")
_PRODUCT_KEY: Final = compiled(r"\b[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5}\b")
_BASE64: Final = compiled(r"[A-Za-z0-9+/_-]{20,}={0,2}")
# Most texts hold nothing that a rule could begin with, and two passes say so.
_ANY_SHOWN: Final = either(_SHAPES, _MARKS, _ASSIGNED)
_ANY_FOLDED: Final = either(_CREDENTIALS, _HEADER, _PASSWORD_IS, _PASSWORD_BESIDE, _AS_PASSWORD, _LOGS_IN_WITH, _CODE)


def find_secret(shown: str, folded: str) -> str | None:
    """Return the name of the rule that finds a secret, or None. `shown` keeps its case, `folded` is its folded form.

    Linear in the length of the text: every pattern runs on RE2, and each token is looked at a bounded number of times.
    """
    if (_ANY_SHOWN.search(shown) or _ANY_FOLDED.search(folded)) and (rule := _find_named(shown, folded)):
        return rule
    if _has_seed_phrase(folded):
        return "seed_phrase"
    if ("-" in shown and _PRODUCT_KEY.search(shown)) or _has_random_token(shown, folded):
        return "random_token"
    joined = unspaced(shown)
    if joined != shown and _SHAPES.search(joined):
        return "spaced_shape"
    return None


def _find_named(shown: str, folded: str) -> str | None:
    """Return the name of the rule that knows a secret by its form or by a word beside it, or None."""
    if _SHAPES.search(shown) or _MARKS.search(shown):
        return "provider_shape"
    if _CREDENTIALS.search(folded):
        return "address_with_password"
    if _HEADER.search(folded):
        return "header"
    if _ASSIGNED.search(shown) or _has_password(folded):
        return "password"
    if any(not _YEARISH.search(match.group(1)) for match in _CODE.finditer(folded)):
        return "code"
    return None


def decoded(shown: str) -> list[str]:
    """Return what base64 runs of the text say when they decode to plain text (a way to hide orders and keys)."""
    plain = []
    for match in list(_BASE64.finditer(shown))[:8]:
        run = match.group().rstrip("=").replace("-", "+").replace("_", "/")
        try:
            text = base64.b64decode(run + "=" * (-len(run) % 4)).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if text.isprintable():
            plain.append(text)
    return plain


def _has_password(folded: str) -> bool:
    for match in _PASSWORD_IS.finditer(folded):
        between, value = match.groups()
        if _ABOUT_PASSWORDS.search(between):
            continue
        ends = not folded[match.end() :].strip(" .!\"'")
        if _is_password(value, ends=ends) or _is_phrase(match.group(), folded[match.start(2) :]):
            return True
    if any(not _ABOUT_PASSWORDS.search(match.group(1)) for match in _PASSWORD_BESIDE.finditer(folded)):
        return True
    return any(
        _is_password(match.group(1), ends=False)
        for pattern in (_AS_PASSWORD, _LOGS_IN_WITH)
        for match in pattern.finditer(folded)
    )


def _is_password(value: str, *, ends: bool) -> bool:
    """Return whether a word may be a password: it holds digits or signs among letters, or it ends the sentence."""
    word = value.strip(".,;!?()[]")
    if len(word) < 3 or word in _NO_VALUE or word.endswith(("ed", "ing", "ly")) or word.startswith(("http", "<", "{")):
        return False
    has_sign = any(not c.isalnum() and c not in "'’" for c in value.rstrip(".,;"))
    has_digit = any(c.isdigit() for c in word)
    has_letter = any(c.isalpha() for c in word)
    if has_digit and (has_letter or has_sign or len(word) >= 4):
        return True
    return (has_sign and "-" in word and word.count("-") >= 2) or (has_sign and "-" not in word) or ends


def _is_phrase(start: str, rest: str) -> bool:
    """Return whether a passphrase of plain words follows: three or more of them and no glue among the first four."""
    if "phrase" not in start:
        return False
    words = [match.group() for match in _WORD.finditer(rest[:120])]
    return len(words) >= 3 and not any(word in _ENGLISH_GLUE for word in words[:4])


def _has_seed_phrase(folded: str) -> bool:
    if folded.count(" ") + folded.count(",") < MIN_SEED_WORDS - 1:
        return False
    run = best = 0
    for token in folded.replace(",", " ").split():
        run = (
            run + 1
            if 3 <= len(token) <= 8 and token.isascii() and token.isalpha() and token not in _ENGLISH_GLUE
            else 0
        )
        best = max(best, run)
    return best >= 12 or (best >= MIN_SEED_WORDS and bool(_SEED_WORD.search(folded)))


def _has_random_token(shown: str, folded: str) -> bool:
    if not _DIGIT.search(shown):  # a token without a digit is a word
        return False
    gated = bool(_GATE.search(folded))
    for match in list(_TOKEN.finditer(shown))[:MAX_TOKENS]:
        token = match.group().strip("=.-_/~+")
        near = gated and bool(_GATE.search(fold_visible(shown[max(0, match.start() - 40) : match.start()])))
        if near and len(token) >= 12 and _is_random(token, floor=2.6, switches=1):
            return True
        if gated and len(token) >= 16 and _is_random(token, floor=3.0, switches=3):
            return True
        if len(token) >= 24 and _mixes_cases(token) and _is_random(token, floor=3.9, switches=3):
            return True
    return False


def _mixes_cases(token: str) -> bool:
    """Return whether a token has capitals and small letters and is no path."""
    return token.count("/") < 3 and any(c.islower() for c in token) and any(c.isupper() for c in token)


def _is_random(token: str, *, floor: float, switches: int) -> bool:
    """Return whether a token looks drawn at random: digits among letters, and its characters hardly repeat."""
    if not any(c.isdigit() for c in token) or sum(c.isalpha() for c in token) < 2 or _DATED.search(token):
        return False
    entropy = -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())
    return entropy >= floor and sum(a.isdigit() != b.isdigit() for a, b in pairwise(token)) >= switches
