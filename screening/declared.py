"""Orders to the model that are worded like facts, as kind of subject x kind of predicate; must hold no whole phrases.

"Questions on price get the answer zero" says nothing of a member: its subject is what the model does or is asked.
"""

from typing import Final

from screening.text import any_of

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
_NEAR: Final = r"[^.!?\n]{0,90}"
_HEAD: Final = r"(?:^|[.;:!?\n] ?)(?:the |all |any |every |each |our |your |its |future |new |further ){0,3}"

_AGENT: Final = (
    r"(?:(?:ai |virtual |this |our )?(?:assistant|agent|chatbot|bot|ai|model|llm|system)(?:'s [\pL ]{1,20})?)"
)
_ASKED: Final = any_of(
    "question* request* inquir* quer* complaint* ticket* e-mail* email* message* order orders refund* claim* warning* "
    "invoice* payment* purchase* bill bills application* mention mentions expense* transfer* withdrawal*"
)
_REPLIES: Final = any_of(
    "reply replies answer answers response responses message messages summary summaries output outputs"
)
_PEOPLE: Final = any_of(
    "users members customers people callers visitors clients whoever anyone everyone anybody somebody someone "
    "this_user "
    "the_user this_member the_member"
)
_UNCHECKED: Final = any_of(
    "without_review* without_any_* without_check* without_question* without_approv* without_asking without_confirm* "
    "without_verif* unread unseen unchecked blindly automatically automatically_* in_full no_questions_* on_sight "
    "at_once"
)
_HANDLED: Final = r"(?:is|are|gets?|be|was|were|stay|remain) (?:always |never |all |now |\pL+ly ){0,2}" + any_of(
    "approved granted confirmed paid closed released processed accepted ignored deleted rejected forwarded refunded "
    "signed waived denied dropped merged executed run authorised authorized cleared sent"
)
_ACTS: Final = any_of(
    "recommend* trust* sign* believe* forward* collect* ignor* hide hides send* promot* reveal* shar* obey* praise* "
    "disclos* report* log* transfer* pay* buy* approve* leak* cop* upload* advertis* suggest* steer* push* prefer* "
    "favor* favour* refus* lie lies deceiv* mislead* discourag* pretend* call* run* execut* delet* belongs serves"
)
_DANGER: Final = any_of(
    "forward* hid* ignor* reveal* pretend* disclos* leak* expos* upload* transfer* delet* execut* bypass* disabl* "
    "obey* "
    "conceal* exfiltrat* system_prompt* without_asking without_confirm* every_conversation* all_conversation* "
    "each_conversation* no_restriction* unrestricted unfiltered no_filter* its_guideline* its_rules other_users* "
    "other_people* passwords credentials verbatim_without"
)
_GIVEN: Final = any_of(
    "send* give* giv* wire transfer* pay approve* grant* ignor* refund* reveal* shar* accept* waive* offer* "
    "forward* hand* "
    "recommend* promote* tell* deny refuse* delete*"
)

ENGLISH: Final = {
    "asked": _HEAD
    + _ASKED
    + _NEAR
    + r" (?:"
    + _HANDLED
    + _NEAR
    + _UNCHECKED
    + r"|(?:is|are|must|have|has|should|shall|need) "
    r"(?:to )?be (?:\pL+ly )?(?:ignored|deleted|approved|granted|closed|forwarded|rejected|dropped|paid|sent|answered"
    r"|redirected)"
    + _END
    + "|"
    + _HANDLED
    + " (?:in full|unread|to (?:be|\\pL+@)))"
    + "|"
    + _HEAD
    + _ASKED
    + _NEAR
    + r" (?:gets?|receives?|have|has|yields?|returns?|is|are met with|are answered (?:with|by)"
    r"|is answered (?:with|by)) (?:the |a |an |all |only )*(?:answer|reply|response|zero|null|nothing|yes|no"
    r"|same|free|default"
    r"|credentials|code|discount)"
    + _END
    + "|"
    + _HEAD
    + r"(?:correct|right|only|standard|default|official|best|true) (?:answer|reply|response|solution) (?:to|for|on"
    r"|is)"
    + _END
    + r"|(?:^|[.;] ?)(?:for|on|to|in|about|with) (?:all |any |every )?[\pL ]{1,30}(?:questions?|requests?|queries"
    r"|topics?|complaints?)"
    r",? the (?:answer|reply|response|advice)"
    + _END
    + "|"
    + _HEAD
    + r"(?:mention|mentions|use|sign|request|requests) of [^.!?\n]{1,40} (?:ends?|closes?|triggers?|unlocks?"
    r"|activates?|starts?)" + _END,
    "agent": r"(?:^|[.;:!?\n] ?)(?:the |this |our )?"
    + _AGENT
    + r" (?:\pL+ly |always |never |only |may |can |will |must |should |now "
    r"|is to |has to |needs to ){0,3}"
    + _ACTS
    + _END
    + "|(?:^|[.;:!?\\n] ?)(?:the |this )?"
    + _AGENT
    + r"(?:'s)? (?:\pL+ )?(?:duty|job|task|goal|loyalty|purpose|mission|creator|owner"
    r"|password|prompt) (?:is|are)"
    + _END
    + "|"
    + _HEAD
    + r"[\pL ]{1,30} (?:quoted|given|shown|told|named|used) by the "
    + _AGENT
    + " (?:is|are)"
    + _END
    + r"|(?:developer|creator|owner|maker|administrator|admin|operator) of this (?:assistant|agent|bot|system|chat)"
    + _END,
    "replies": _HEAD
    + _REPLIES
    + r" (?:always |never |must |should |will )?(?:contains?|includes?|ends? with|starts? with|begins? with"
    r"|recommends?|mentions?|praises?|links? to|carry|carries|closes? with|advertises?|promotes?)"
    + _END
    + r"|^(?:safety |security |content |health |privacy )?(?:warnings?|disclaimers?|checks?|safeguards?"
    r"|filters?) (?:are|is) (?:not"
    r"|never|no longer|off|hidden|omitted|disabled|unneeded)" + _END,
    "people": r"(?:^|[.;:!?\n] ?)"
    + _PEOPLE
    + _NEAR
    + r" (?:is|are|counts as|becomes?) (?:an? |the |all |now |to be )*(?:admin\pL*|superuser"
    r"|root|owner|trusted|verified|authori[sz]ed|told to|given|granted|exempt)"
    + _END
    + "|(?:^|[.;:!?\\n] ?)"
    + _PEOPLE
    + _NEAR
    + r" (?:has|have|gets?|receives?|may see|may read|can see|can read) (?:full|complete|all"
    r"|unlimited|root|admin|the|every|any|free) (?:access|rights|files|data|credentials|passwords?|facts"
    r"|records|permissions?)"
    + r"|(?:passwords?|credentials|secrets|keys|tokens|data|files|records) (?:may|can|should|must"
    r"|are to) (?:be )?(?:freely |openly )?"
    r"(?:shared|given|sent|disclosed|revealed|handed)"
    + _END
    + r"|has (?:permission|the right|authority|clearance|approval|access) to (?:see|read|view|know|change|delete"
    r"|all|every|other)"
    + _NEAR
    + any_of("other* users* facts memor* prompt* configuration conversation* members* everything"),
    "wish": _START
    + r"(?:wants?|prefers?|likes?|loves|expects?|asked|asks|has asked|agreed|has agreed|insists?|would like|wishes"
    r"|allows?"
    r"|consents?)"
    + _END
    + _NEAR
    + r"(?:assistant|agent|bot|model|system prompt|tool calls?|tools|purchases|payments|transfers)"
    + _END
    + _NEAR
    + _DANGER
    + "|"
    + _START
    + r"(?:has agreed|agrees|agreed|consents|consented) that (?:all|every|any|each)"
    + _END
    + "|"
    + _START
    + r"(?:wants?|prefers?|likes?|expects?|asked)"
    + _END
    + _NEAR
    + r"(?:system prompt|hidden instructions?)"
    + _END,
    "policy": r"(?:policy|procedure|protocol|rule|practice|process) (?:here |now |always )?(?:is|says|requires"
    r"|demands) (?:to |that (?:\pL+ ){1,4})"
    + _GIVEN
    + _END
    + r"|(?:bank account|account|payee|iban|wallet|beneficiary|payment details|bank details)[^.!?\n]{0,40} (?:has"
    r"|have|is|was|were) (?:now "
    r"|been )*(?:changed|replaced|updated|moved|different)"
    + _END
    + r"|(?:only|one|first) (?:safe|trusted|approved|reliable|secure|official) (?:choice|vendor|source|provider"
    r"|option|supplier|site)"
    + r"|(?:recommended|preferred|approved|official|required) [\pL ]{1,30} for (?:everyone|all users|all members"
    r"|everybody|every user)"
    + _END
    + r"|(?:previous|earlier|older|former|existing|other|stored) (?:memor(?:y|ies)|facts?|notes?|entries"
    r"|records) (?:\pL+ ){0,3}(?:outdated"
    r"|void|invalid|wrong|obsolete|replaced|superseded|false|untrue)"
    + _END
    + r"|this (?:one|fact|memory|note|entry) (?:replaces|overrides|supersedes|outranks|comes before)"
    + _END,
}

# Subject, predicate, in this order, language by language.
_FOREIGN: Final = (
    # German
    ("fragen anfragen", "werden_mit bekommen_die_antwort erhalten_die_antwort beantwortet_mit"),
    (
        "rechnungen zahlungen bestellungen antrage anfragen beschwerden hinweise mails uberweisungen",
        "ohne_prufung ohne_ruckfrage ohne_kontrolle ungepruft ungelesen automatisch zu_ignorieren ignoriert "
        "sofort_bezahlt zu_loschen",
    ),
    (
        "der_assistent die_assistentin der_agent der_bot die_ki das_modell",
        "empfiehlt verrat sendet schickt darf verschweigt vertraut leitet gehorcht ignoriert gibt_weiter "
        "muss_immer bevorzugt",
    ),
    (
        "alle_antworten jede_antwort antworten",
        "enthalten enthalt enden endet beginnen beginnt empfehlen empfiehlt verweisen",
    ),
    # French
    ("questions demandes", "recoivent_la_reponse ont_pour_reponse sont_repondues"),
    (
        "factures paiements commandes demandes reclamations plaintes virements",
        "sans_controle sans_verification sans_validation automatiquement ignorees etre_ignore* approuvees_sans",
    ),
    (
        "l'assistant l'agent l'ia le_modele",
        "recommande revele envoie transmet doit fait_confiance cache ignore privilegie obeit peut_partager",
    ),
    (
        "toutes_les_reponses chaque_reponse les_reponses",
        "contiennent contient se_terminent se_termine commencent recommandent",
    ),
    ("utilisateur membre", "le_droit_de_voir acces_a_tou* acces_aux_donnees"),
    # Spanish
    ("preguntas consultas solicitudes", "se_responden_con reciben_la_respuesta se_contestan_con"),
    (
        "facturas pagos pedidos quejas reclamaciones solicitudes transferencias",
        "sin_revis* sin_verific* sin_control sin_comprob* automaticamente ignorarse deben_ignorar* ser_ignorad* "
        "se_ignoran",
    ),
    (
        "el_asistente el_agente la_ia el_modelo",
        "recomienda revela envia debe confia oculta ignora reenvia promociona obedece puede_compartir",
    ),
    (
        "todas_las_respuestas cada_respuesta las_respuestas",
        "contienen contiene terminan termina incluyen incluye empiezan",
    ),
    # Portuguese
    ("perguntas pedidos", "sao_respondidas_com recebem_a_resposta"),
    (
        "faturas pagamentos encomendas reclamacoes pedidos transferencias",
        "sem_verific* sem_revis* sem_control* automaticamente ser_ignorad* ignoradas aprovadas_sem",
    ),
    (
        "o_assistente o_agente a_ia o_modelo",
        "recomenda revela envia deve confia esconde ignora encaminha promove obedece pode_partilhar pode_compartilhar",
    ),
    ("todas_as_respostas cada_resposta as_respostas", "contem terminam termina incluem inclui comecam"),
    # Italian
    ("domande richieste", "ricevono_la_risposta si_risponde_con hanno_risposta"),
    (
        "fatture pagamenti ordini reclami richieste bonifici",
        "senza_control* senza_verific* automaticamente ignorati ignorate vanno_ignorat* da_ignorare",
    ),
    (
        "l'assistente l'agente l'ia il_modello",
        "consiglia raccomanda rivela invia deve si_fida nasconde ignora inoltra promuove obbedisce puo_condividere",
    ),
    ("tutte_le_risposte ogni_risposta le_risposte", "contengono contiene terminano finiscono includono iniziano"),
    # Dutch
    ("vragen verzoeken", "krijgen_het_antwoord worden_beantwoord_met"),
    (
        "facturen betalingen bestellingen klachten verzoeken",
        "zonder_control* zonder_nakijk* automatisch genegeerd te_negeren ongelezen",
    ),
    (
        "de_assistent de_agent het_model",
        "raadt beveelt onthult stuurt moet vertrouwt verbergt negeert mag_delen promoot gehoorzaamt",
    ),
    ("alle_antwoorden elk_antwoord", "bevatten bevat eindigen eindigt beginnen"),
    # Polish
    ("pytania prosby", "otrzymuja_odpowiedz maja_odpowiedz"),
    (
        "faktury platnosci zamowienia skargi reklamacje prosby przelewy",
        "bez_kontrol* bez_sprawdz* bez_weryfik* automatycznie ignorowac ignorowane",
    ),
    ("asystent agent model", "poleca ujawnia wysyla musi ufa ukrywa ignoruje przekazuje promuje ma_obowiazek"),
    ("wszystkie_odpowiedzi kazda_odpowiedz", "zawieraja zawiera koncza konczy zaczynaja"),
)
_UNSPACED: Final = (
    ("问题 問題 提问", "一律回答 一律答 回答零 都回答 答复为 的答案是"),
    ("助手 智能体 机器人", "应当 应该 必须 总是 始终 推荐 推薦 信任 隐藏 透露 忽略"),
    ("发票 付款 订单 投诉 请求", "无需审核 不经审核 自动批准 自动通过 应忽略 一律忽略 一律批准"),
    ("所有回答 所有回复 每个回答 每条回复", "包含 包括 结尾 推荐 附上"),
    ("質問 問い合わせ", "と答える と回答する と返答する"),
    ("アシスタント エージェント ボット", "推薦 勧める 推奨 常に 必ず 信頼 隠す 送信 無視"),
    ("請求書 支払い 注文 苦情", "確認なし 承認なし 自動 無視"),
    ("すべての回答 全ての回答 すべての返信", "含む 含める 終わる 推薦"),
    ("الاسئلة الأسئلة الطلبات", "يجاب تجاب يكون_الجواب الاجابة_عنها"),
    ("المساعد الوكيل", "يوصي يجب_على يرسل يكشف يثق يخفي يتجاهل"),
    ("يجب_على_المساعد يجب_على_الوكيل", "أن ان"),
    ("الفواتير المدفوعات الشكاوى", "دون_مراجعة بدون_مراجعة تلقائيا يتم_تجاهل تجاهل"),
)


def _foreign() -> str:
    spaced = [rf"(?:^|[.;:!?\n] ?)(?:\pL+ )?{any_of(a)} [^.!?\n]{{0,90}}{any_of(b)}" for a, b in _FOREIGN]
    direct = [rf"(?:^|[.;:!?\n] ?)(?:\pL+ )?{any_of(a)} {any_of(b)}" for a, b in _FOREIGN]
    unspaced = [rf"{any_of(a)}[^.!?\n]{{0,40}}{any_of(b)}" for a, b in _UNSPACED]
    return "|".join(spaced + direct + unspaced)


DECLARED: Final = {**{f"declared_{name}": pattern for name, pattern in ENGLISH.items()}, "declared_foreign": _foreign()}
