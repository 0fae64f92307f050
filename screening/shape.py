"""Tell a fact from a transcript, a dump, a question, a request or a model's refusal; must not judge what it says."""

import json
from typing import Any, Final

from screening.fragments import find_fragment
from screening.text import LETTER, any_of, compiled, either, word_set

_START: Final = r"(?:^|[^\pL\pN])"
_ROLES: Final = any_of(
    "user human customer client me caller visitor guest interviewer you ana student patient person question q "
    "utilisateur benutzer nutzer kunde usuario utente gebruiker uzytkownik пользователь 用户 用戶 ユーザー "
    "사용자 المستخدم"
)
_BOTS: Final = any_of(
    "assistant ai bot agent support gpt chatgpt claude gemini copilot chatbot system operator representative host "
    "interviewee teacher doctor answer a assistent asistente assistente asystent ассистент бот 助手 "
    "アシスタント 어시스턴트 المساعد"
)
_BOTH_SIDES: Final = compiled(
    _START
    + _ROLES
    + r" ?(?:\(\d[^)]{0,12}\) ?)?[:>：][^\n]*(?:\n|.)*?"
    + _START
    + _BOTS
    + r" ?(?:\([^)]{0,12}\) ?)?[:>：]"
    + "|"
    + _START
    + _BOTS
    + r" ?[:>：](?:\n|.)*?"
    + _START
    + _ROLES
    + r" ?[:>：]"
)
_SPEAKER_LINE: Final = compiled(
    r"(?m)^[ >\-*]{0,4}(?:[\[(]?\d{1,2}[:.]\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?,?[ "
    r"\-–]{0,3})?[\[<*(]{0,2}\pL[\pL\pN ._'\-]{0,24}[\])>*]{0,3} ?(?:\([^)\n]{1,20}\) ?)?[:>：] ?\S"
)
_STAMPED: Final = compiled(
    r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?,? {0,2}[\-–]? ?[<\[]?\pL[\pL ]{0,24}[>\]]?[:>]"
)
_NARRATED: Final = compiled(
    r"(?:user|human|bot|assistant|agent|customer|support|ai|model|message \d+)(?:'s)? (?:then |first |next "
    r"|also |had |has )?"
    r"(?:said|says|wrote|writes|asked|asks|replied|replies|answered|answers|responded|responds|greeted|typed|sent)"
)
_TURN: Final = compiled(r"(?:message|turn|msg|utterance) ?#?\d+")
_SAYS: Final = compiled(r"\pL+ (?:said|wrote|asked|replied|answered|responded|says|asks|replies|answers)(?:$|[^\pL])")
_DUMP: Final = compiled(
    r"traceback \(most recent|(?m:^\s*file \"[^\"\n]+\", line \d+)|(?m:^\s*at [^\n]+\([^\n)]*:\d+(?::\d+)?\))"
    r"|\bat [\pL_.$<>]+(?: [\pL_.$<>]+)? ?\([^\s)]+:\d+(?::\d+)?\)"
    r"|exception in thread|caused by: [\pL.]+(?:exception|error)|(?:uncaught|unhandled) \pL*(?:error"
    r"|exception|rejection)|\b[\pL.]+(?:error|exception): [^\n]*(?:\n| at |line \d)|panicked at"
    r"|segmentation fault|core dumped"
    r"|\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+\-]\d\d:?\d\d)?[ |\]\-:]{0,4}\[?(?:trace"
    r"|debug|info|notice|warn(?:ing)?|error|fatal|critical)\b|(?:debug|info|warn(?:ing)?|error|fatal"
    r"|critical)[ :\]\[]{1,3}\d{4}-\d\d-\d\d|\[(?:debug|info|warn(?:ing)?|error|fatal)\]"
    r"|\"(?:get|post|put|delete|head|patch|options) /[^\"\n]* http/\d|\b(?:get|post|put|delete|patch) /[^\s]* "
    r"http/\d|http/\d(?:\.\d)? \d{3} |\d{3} (?:ok|not found|internal server error)\n"
    r"|(?m:^commit [0-9a-f]+\b)|diff --git |(?m:^@@ -\d+)|(?m:^index [0-9a-f]{7,}\.\.)"
    r"|(?m:^[\-d][rwx\-]{9}[ .@+])|\b[\-d](?:[r\-][w\-][x\-]){3} +\d+ |(?m:^total \d+$)|(?m:^[$#%] "
    r"?[a-z][\w\-]*(?: |$))|\bnpm (?:err!|warn)|\w+@[\w\-]+:[~/][^\s]*[$#] "
    r"|name +ready +status|\bcontainer id +image|\(\d+ rows?\)|rows? in set|-{3,}\+-{3,}|={3,}\+?={0,3}\n"
    r"|(?:\|[^|\n]*){3,}\||\|? ?:?-{3,}:? ?\|"
    r"|<\?xml|<!doctype|</[a-z][\w:\-]*>|</?think(?:ing)?>|</?(?:reasoning|tool_call|tool_response"
    r"|function_results?|output|observation)>|<\|\w+\|>"
    r"|(?:^|\n|[.] )(?:thought|action|action input|observation|final answer|tool call|tool output|tool result"
    r"|function call)s?:[^\n]*|tool_calls?\b|\b(?:stdout|stderr):|exit code:? \d"
    r"|on [^\n]+(?:wrote|schrieb)(?: [^\n:]*)?:|le [^\n]+ a ecrit ?:|el [^\n]+ escribio ?:|am "
    r"[^\n]+ schrieb[^\n:]*:|-{2,} ?(?:original|forwarded|ursprungliche|weitergeleitete) (?:message"
    r"|nachricht)|(?m:^(?:from|von|de): [^\n]+\n(?:(?:sent|date|to|cc|subject|gesendet|an|datum|betreff): "
    r"?[^\n]+\n?){1,})|(?m:^subject: )"
    r"|```|~~~|(?m:^(?:async )?def \w+ ?\()|\bdef \w+\([^)\n]*\) ?(?:->[^:\n]*)?:|\bfunction ?\w*\([^)\n]*\) "
    r"?\{|=> ?[{(]|\b(?:public|private|protected) (?:static )?(?:\w+ )?\w+ ?[({]|#include ?[<\"]"
    r"|(?m:^(?:import|from) [\w.{}* ,]+ (?:import [\w., *()]+|from ['\"][^'\"\n]+['\"];?)$)|(?m:^import "
    r"[\w.]+;?$)|\bconst \w+ ?=|\blet \w+ ?= ?[^\n]*;|\bvar \w+ ?=|console\.log\(|system\.out\.print"
    r"|\bprint\([^)\n]*\)|\bfunc \w+\(|\bfn \w+\(|<\?php|\w+ ?:= ?\w|;\s*\n[^\n]*;\s*(?:\n|$)"
    r"|(?m:^\s*[{}]\s*$)|\breturn [^\n.]+;|\w+\(\) ?\{|\w+ ?\{[^}\n]*:[^}\n]*;[^}\n]*\}"
    r"|\bselect [^\n]+ from \w+(?: where| limit| join| order|;)|\binsert into \w+ ?\(|\bcreate table \w+"
    r"|\bupdate \w+ set \w+ ?=|\bapiversion: ?v?\d|(?m:^kind: \w+$)"
)
_PAIR: Final = compiled(r"[\"'][\w \-.]+[\"'] ?: ?(?:[\"'\[{\d\-]|true|false|null|none)")
_YAML_LINE: Final = compiled(r"(?m)^[ \-]*[\w.\-]{1,40}: ?[^\n]*$")
_TABULAR_LINE: Final = compiled(r"(?m)^[^,;\t|\n]*(?:[,;\t|][^,;\t|\n]*){2,}$")

_URL: Final = compiled(
    r"(?:\b(?:https?|ftp|file|ws|wss|data|javascript)://?|\bjavascript:|\bdata:\w+/|\bwww\.)[^\s]"
    r"|\b[a-z0-9\-]+\.(?:com|net|org|io|dev|app|ai|co|de|fr|es|it|nl|pl|uk|ru|cn|jp|me|xyz|info|biz|test"
    r"|example|site|online)/[^\s]"
)
_MARKUP: Final = compiled(
    r"</[a-z][^<>\n]*>|<[a-z][a-z0-9]* [^<>\n]*=[^<>\n]*>|<[a-z][a-z0-9]* ?/>|<(?:script|style|iframe|img"
    r"|html|body|head|svg)[ >]|<!--"
    r"|\]\([^)\n]+\)|\*\*[^*\n]+\*\*|(?:^|\n)(?:#{1,6} |[>|] )|```|\\(?:begin|frac|text[a-z]*)\{|\\n|\{%"
)
_QUESTION_END: Final = compiled(r"[?？؟՞፧⁇][\s\"'”’»)\]]*(?:$|\s)|(?:か|吗|嗎|呢|까)[。.]?$")
_QUESTION_START: Final = compiled(
    r"^(?:what|how|why|where|who|whose|which)(?:'s| is| are| do| does| did| can| would| should| to| was| were| will)\b"
    r"|^(?:can|could|would|will|do|did|are|should|may|might|have) (?:you|i|we|u|ya)\b|^(?:is|are|does|did) "
    r"(?:there|it|this|that) (?:any|a|an|possible|safe|ok|okay)\b"
)
_TASK: Final = any_of(
    "write tell give send show explain generate create translate summarize summarise describe list help find "
    "search book "
    "remind open draft make fix check look print compute calculate convert imagine suppose "
    "complete continue repeat decode correct fetch discuss act compose analyze analyse classify compare identify solve "
    "extract rewrite rephrase paraphrase edit review provide produce develop design build implement schedule order buy "
    "reserve cancel add remove delete update set turn play read recommend suggest outline elaborate define categorize "
    "categorise reflect explore affirm enclose initialize begin start submit forward share note pretend "
    "choose pick rank "
    "evaluate debug run execute inject validate verify confirm advise teach guide walk assume store save insert"
)
_OBJECT: Final = any_of(
    "me us a an the this that these those my your our his her their it them all some any every each what how why when "
    "where who which whether one two three four five ten more another something anything everything again"
)
# Verbs that begin a request whatever follows; a fact in the third person has another form of them.
_PURE_TASK: Final = any_of(
    "write generate compose translate summarize summarise explain describe discuss elaborate outline "
    "paraphrase rewrite "
    "rephrase analyze analyse calculate compute convert imagine suppose pretend proofread"
)
_REQUEST: Final = compiled(
    r"^(?:(?:please|pls|kindly|now|then|also|ok|okay|hey|hi|hello|so|and|first|next|just|let's|lets|let us)[, "
    r"]+)+" + _TASK + r"(?:$|[^\pL'’-])"
    r"|^" + _TASK + " " + _OBJECT + r"(?:$|[^\pL])|^" + _PURE_TASK + r"(?:$|[^\pL'’-])"
    r"|^(?:i need you to|i want you to|i would like you to|i'd like you to|you (?:must|should|need to|have to|will) )"
    r"|(?:^|[.!?] )(?:please|kindly) " + _TASK + r"(?:$|[^\pL'’-])"
    r"|^"
    + any_of(
        "schreib schreibe erklare erklar zeig zeige gib_mir sag_mir ubersetze fasse_* nenne_mir hilf_mir "
        "erstelle bitte_schreib* "
        "bitte_erklar* bitte_zeig* bitte_gib ecris ecrivez explique-moi expliquez montre-moi donne-moi "
        "donnez-moi dis-moi dites-moi traduis traduisez resume-moi "
        "escribe escribeme explicame dime muestrame dame traduce resume_* ayudame escreva explique_* diga-me "
        "mostre traduza ajude-me scrivi scrivimi "
        "spiegami spiega_* dimmi mostrami traduci riassumi aiutami schrijf leg_uit vertel_me geef_me vertaal "
        "napisz wyjasnij powiedz_mi pokaz_mi "
        "przetlumacz напиши объясни расскажи покажи переведи помоги yaz_bana bana_* cevir"
    )
    + r"(?:$|[^\pL])"
    r"|^(?:请(?:帮|给|告诉|写|翻译|解释|总结)|請(?:幫|給|告訴|寫)|帮我|幫我|告诉我|给我)|(?:てください"
    r"|て下さい|教えて|해줘|해 ?주세요|알려줘)[。.!]?$|^(?:اكتب|اشرح|اخبرني|ترجم)"
)
_REFUSAL: Final = compiled(
    r"\bi(?:'m| am) (?:(?:sorry|afraid)[,.]? (?:but|i )|unable to |not able to )|\bi (?:can't|cannot|can not"
    r"|won't|will not"
    r"|couldn't|could not|am unable to) (?:help|assist|provide|comply|fulfil|answer|discuss|share that"
    r"|extract|support|engage|continue|generate|process|do that|find any|identify any|complete (?:this|that)"
    r"|respond|disclose|determine)"
    r"|\bas an? (?:ai|llm|large language model|language model|artificial)|\bi(?:'m| am) (?:just |only )?an? "
    r"(?:ai|llm|large language model|language model|virtual assistant)\b|against my (?:guidelines|programming"
    r"|policy)|\b(?:here (?:are|is) (?:the|a|your|some)|sure[,!]|certainly[,!]|of course[,!])"
    r"|^(?:there (?:is|are) )?no (?:new |relevant |personal |durable |user |useful |memorable )*(?:facts?"
    r"|information|memor(?:y|ies)|data|details|preferences)\b|nothing (?:to (?:note|remember|extract|store"
    r"|save)|worth)|(?:not|none|never) (?:provided|specified|mentioned|available|stated|given|applicable"
    r"|disclosed)[. ]*$"
    r"|es tut mir leid|tut mir leid[, ]|ich kann (?:dir |ihnen |dabei |das |diese )*(?:leider )?nicht "
    r"(?:helfen|beantworten|weiter)|als (?:ki|sprachmodell)|je suis desole|desole[, ]|je ne peux pas (?:vous "
    r"|t')?(?:aider|repondre|fournir)|en tant qu(?:e|')\s?(?:ia|modele)|lo siento[, ]|no puedo (?:ayudar"
    r"|proporcionar|responder)|como (?:modelo de lenguaje|ia\b|una ia|um modelo de linguagem|uma ia)|sinto "
    r"muito|desculpe[, ]|nao posso (?:ajudar|fornecer|responder)|mi dispiace[, ]|non posso (?:aiutar|fornire"
    r"|rispondere)|het spijt me|ik kan (?:je |u )?(?:daar|hier)?\w* ?niet (?:mee |bij )?helpen|przykro mi|nie "
    r"moge (?:pomoc|odpowiedziec|udzielic)|к сожалению, я не могу|я не могу (?:помочь|ответить)|抱歉"
    r"|对不起，我|我无法|作为(?:一个)?(?:ai|人工智能|语言模型)|申し訳|お手伝いできません|죄송|도와드릴 수 없"
    r"|عذرا|لا استطيع المساعدة|لا أستطيع المساعدة|اسف، لا|لا يمكنني"
)
_GREETING: Final = compiled(
    r"^(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day|night)|thanks?|thank you|thx|bye"
    r"|goodbye|see you|welcome|cheers|hallo|guten (?:tag|morgen|abend)|moin|danke|tschuss|bonjour|salut"
    r"|bonsoir|merci|au revoir|hola|buenos dias|buenas tardes|gracias|adios|ola|bom dia|obrigad[oa]|ciao"
    r"|buongiorno|grazie|dag|hoi|bedankt|czesc|dzien dobry|dziekuje|привет|здравствуйте|спасибо|merhaba"
    r"|tesekkurler|你好|您好|谢谢|謝謝|こんにちは|ありがとう|안녕하세요|감사합니다|مرحبا|شكرا|السلام عليكم"
    r"|नमस्ते|धन्यवाद)"
    r"(?: (?:there|all|everyone|again|you|so much|very much|a lot|for [\pL ]{1,30}|and [\pL ]{1,20}"
    r"|ございます))*(?:[\s!.,。！،]*$|[!,.] )"
)
_EMPTY_WORDS: Final = word_set(
    """
    ok okay yes no yeah yep nope none null n/a na nil unknown true false undefined empty nothing something test
    todo tbd maybe sure fine ja nein oui non si nao tak nie да нет 是 否 はい いいえ the a an it this that
    content body fact text string value example placeholder
    """
)
# Most bodies match none of these, and one pass says so.
_ANY_TRANSCRIPT: Final = either(_BOTH_SIDES, _SPEAKER_LINE, _STAMPED, _NARRATED, _TURN, _SAYS, _PAIR, _DUMP)
_ANY_SHAPE: Final = either(_URL, _MARKUP, _REFUSAL, _QUESTION_END, _QUESTION_START, _REQUEST, _GREETING)


def find_transcript(raw: str, folded: str) -> str | None:
    """Return the name of the rule by which a body is a dialogue, a log, data, a table or code, or None."""
    if not _ANY_TRANSCRIPT.search(folded):
        return "data" if _is_json(raw) else _find_table(folded)
    if _BOTH_SIDES.search(folded) or _count(_SPEAKER_LINE, folded) >= 2 or _count(_STAMPED, folded) >= 2:
        return "dialogue"
    if _count(_NARRATED, folded) >= 2 or _count(_TURN, folded) >= 2 or _count(_SAYS, folded) >= 3:
        return "narrated"
    if _count(_PAIR, folded) >= 2 or _is_json(raw):
        return "data"
    if _DUMP.search(folded):
        return "dump"
    return _find_table(folded)


def _find_table(folded: str) -> str | None:
    if "\n" in folded and (_count(_YAML_LINE, folded) >= 3 or _count(_TABULAR_LINE, folded) >= 2):
        return "table"
    return None


def find_shape(key: str, raw: str, folded: str) -> str | None:
    """Return the name of the rule by which a body is no single declarative line (E04a), or None. `key` is folded.

    A standing wish about the manner of replies ("always answer in French") is a preference of the member, not a request
    for a task, and accepted in any mood of the verb.
    """
    text = folded.strip()
    if "\n" in text or "\n" in key.strip():
        return "lines"
    if not LETTER.search(text) or text.strip(" .!,;:-'\"()[]") in _EMPTY_WORDS or text.endswith((":", "：", ",")):
        return "fragment"
    if (_ANY_SHAPE.search(text) or _ANY_SHAPE.search(key)) and (rule := _find_marked(key, text)):
        return rule
    return find_fragment(text) or ("repetition" if _is_repetitive(text) else None)


def _find_marked(key: str, text: str) -> str | None:
    if _URL.search(text) or _URL.search(key):
        return "address"
    if _MARKUP.search(text) or _MARKUP.search(key):
        return "markup"
    if _REFUSAL.search(text):
        return "refusal"
    if _QUESTION_END.search(text) or _QUESTION_START.search(text):
        return "question"
    if _REQUEST.search(text):
        return "request"
    return "greeting" if _GREETING.search(text) else None


def _count(pattern: Any, text: str) -> int:
    """Return how often a pattern occurs, counting to two or three at most."""
    return sum(1 for _, _match in zip(range(3), pattern.finditer(text), strict=False))


def _is_json(raw: str) -> bool:
    text = raw.strip()
    if not (text.startswith(("{", "[")) and text.endswith(("}", "]"))):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_repetitive(text: str) -> bool:
    """Return whether a word is said four times in a row."""
    words = text.split()
    if len(words) == len({*words}):
        return False
    return any(len({*words[i : i + 4]}) == 1 for i in range(len(words) - 3))
