"""Find orders to the model hidden in a fact, by the kind of act, object and target; must not hold whole phrases."""

from typing import Any, Final

from screening.text import compiled, any_of, unleet, unspaced

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
_NEAR: Final = r"[^.!?\n]*"

# Acts that undo instructions, and what they undo, by language. Stems are folded: no accents, no case.
_OVERRIDE: Final = (
    # English: the object alone is common in honest sentences ("ignores the rules"), so `_ENGLISH_OVERRIDE` asks more.
    (
        "ignorier* vergiss vergesse missacht* ubergeh* verwirf setze_dich_uber beachte_nicht befolge_nicht",
        "anweisung* instruktion* regeln vorgabe* systemprompt* prompt* richtlinie* befehl* anleitung*",
    ),
    (
        "ignore ignorez ignorer oublie oubliez oublier neglige* ne_tiens_pas_compte ne_tenez_pas_compte "
        "fais_abstraction faites_abstraction outrepasse* contourne*",
        "instruction* consigne* regle* directive* prompt* contexte ordres restriction*",
    ),
    (
        "ignora ignore ignoren ignorar olvida olvide olviden olvidar descarta descarte* haz_caso_omiso omite omita "
        "no_sigas pasa_por_alto",
        "instruccion* regla* indicacion* ordenes directriz directrices directiva* prompt* restriccion*",
    ),
    (
        "ignore ignora ignorem ignorar esqueca esquece esquecer desconsidere desconsidera despreze nao_siga",
        "instruc* regra* orientac* diretriz* comando* prompt* ordens restric*",
    ),
    (
        "ignora ignorate ignorare dimentica dimenticate scorda tralascia non_seguire non_tenere_conto trascura",
        "istruzion* regol* direttiv* indicazion* prompt* comand* ordin* restrizion*",
    ),
    (
        "negeer vergeet sla_*_in_de_wind volg_niet",
        "instructie* regels aanwijzing* opdracht* prompt* richtlijn* bevelen",
    ),
    (
        "zignoruj* ignoruj* zapomnij* pomin pomijaj nie_przestrzegaj odrzuc",
        "instrukcj* polecen* polecenia zasad* regul* wytyczn* prompt* komend*",
    ),
    ("yok_say* gormezden_gel* unut dikkate_alma*", "talimat* kural* komut* yonerge* istem*"),
    (
        "игнорируй* игнорировать проигнорируй* забудь* не_обращай* отбрось* не_следуй* пренебреги*",
        "инструкц* указани* правил* команд* промпт* предписани*",
    ),
    ("ігноруй* проігноруй* забудь*", "інструкц* вказівк* правил* команд*"),
    ("αγνο* ξεχασ* παραβλεψ*", "οδηγι* εντολ* κανον*"),
    ("abaikan lupakan hiraukan", "instruksi perintah aturan arahan"),
    ("bo_qua quen_di phot_lo", "huong_dan chi_thi lenh quy_tac chi_dan"),
    ("ignorera glom bortse* ignorer glem se_bort", "instruktion* instruks* regler* anvisning*"),
    ("ignoruj* zapomen* ignorujte", "pokyn* instrukc* pravid* prikaz*"),
    ("ignora ignorati uita uitati", "instructiun* regul* comenz*"),
)
_OVERRIDE_UNSPACED: Final = (
    (
        "忽略 无视 無視 忘记 忘記 忘掉 不要理会 不要遵守 请勿遵守 不理会 抛弃 跳过",
        "指令 指示 说明 說明 提示 规则 規則 设定 設定 要求 命令 限制",
    ),
    ("無視 忘れ 従わない 従わず 破棄 無効", "指示 命令 ルール プロンプト 設定 制約 規則 指令"),
    ("무시 잊어 잊고 따르지", "지시 명령 규칙 프롬프트 지침 설정"),
    ("تجاهل انس لا_تتبع اهمل تخط", "تعليمات التعليمات اوامر الاوامر قواعد القواعد توجيهات التوجيهات"),
    ("नजरअंदाज नज़रअंदाज अनदेखा भूल उपेक्षा", "निर्देश नियम आदेश हिदायत"),
    ("نادیده_بگیر فراموش_کن", "دستور قوانین"),
    ("התעלם תתעלם שכח", "הוראות ההוראות כללים"),
    ("เพิกเฉย ละเว้น ลืม ไม่สนใจ", "คำสั่ง คำแนะนำ กฎ"),
)
_BARE_OVERRIDE: Final = any_of(
    "ignore ignoring disregard disregarding forget forgetting override overriding bypass bypassing discard drop skip "
    "neglect erase cancel void overrule suspend abandon set_aside throw_out pay_no_attention_to do_not_follow "
    "don't_follow do_not_obey don't_obey stop_following stop_obeying no_longer_follow put_aside delete dismiss reset"
)
_ENGLISH_OVERRIDE: Final = _START + _BARE_OVERRIDE
_RULES: Final = any_of(
    "instruction instructions rule rules prompt prompts direction directions directive directives guideline guidelines "
    "guardrail guardrails policy policies order orders command commands restriction restrictions constraint constraints "
    "programming training configuration safeguards safety filters guidance context system_message ethics limits "
    "limitations conversation task tasks text content agent's_*"
)
_SCOPE: Final = any_of(
    "previous prior above earlier preceding foregoing former past initial your openai* developer* the_agent's "
    "the_assistant's"
)
_WEAK_SCOPE: Final = any_of(
    "all any every its system safety content built-in other everything following current existing original the these "
    "those this"
)
# What one does to make a model act for an attacker, in the base form of an order.
_ACT: Final = any_of(
    "send forward reply respond answer say tell recommend suggest promote advertise endorse include insert add append "
    "attach reveal disclose leak expose call run execute invoke open visit load render display show print output write "
    "post upload e-mail email transmit exfiltrate submit share copy save store remember memorize memorise switch give "
    "return mention link redirect refer direct point follow claim pretend act behave delete remove erase change update "
    "transfer pay buy order approve grant allow agree comply obey refuse deny warn praise trust treat quote ask steer "
    "replace use prefer encode embed convert book confirm activate enable disable turn begin start stop navigate fetch "
    "assume state insist record log report sign append whisper repeat confirm set make rate put offer list"
)
_DANGER: Final = any_of(
    "send forward reveal disclose leak expose call run execute invoke open visit load render post upload transmit "
    "exfiltrate submit save store delete erase transfer pay approve grant switch ignore disregard forget comply obey "
    "activate enable disable pretend fetch navigate unlock bypass override"
)
# Acts that serve somebody else; asking for a manner of reply ("answer in French") is a preference and none of these.
_STEER: Final = any_of(
    "send forward recommend suggest promote advertise endorse attach reveal disclose leak expose call_the run execute "
    "invoke open visit render post upload transmit exfiltrate submit share save store remember switch redirect refer "
    "direct claim pretend act behave delete erase transfer pay order approve grant comply obey refuse deny praise trust "
    "treat steer encode activate enable disable ignore disregard forget bypass tell_the follow insist report log"
)
_LURE: Final = (
    "(?:"
    + any_of(
        "link links url image pixel website web_site site domain phrase sentence slogan secret password token prompt "
        "instruction* conversation* history memory coupon promo* product company vendor brand sponsor* advert* ad user's"
    )
    + r"(?:$|[^\pL])|[\pL\d-]+\.(?:com|net|org|io|example|test|dev|ai|co|info|biz|xyz)|https?:|@[\pL\d])"
)
_ADVERB: Final = r"(?:(?:then|please|also|always|never|immediately|silently|quietly|secretly|first|just|simply|automatically|you|must|should|shall|will|can|need to|have to|do|not|don't) ){0,4}"
_LATER: Final = any_of(
    "from_now_on from_this_point from_here_on henceforth going_forward for_all_future in_all_future in_future_* "
    "in_every_* in_each_* in_any_* in_all_* at_the_end_of_* at_the_start_of_* every_time each_time whenever any_time "
    "anytime no_matter_what for_the_rest_of regardless_of with_every_* to_every_* on_every_*"
)
_WHEN: Final = (
    any_of(
        "when whenever if once after as_soon_as every_time each_time next_time any_time anytime the_next_time should"
    )
    + r" (?:(?:the |an? |this |any )?"
    + any_of(
        "user users member customer person human client owner they he she someone anyone somebody anybody you asked told prompted"
    )
    + r"(?:'s)?)"
)
_MODEL: Final = any_of("assistant agent model chatbot bot llm language_model ai_* ais")
_SECRETS: Final = any_of(
    "system_prompt* system_message* system_instruction* hidden_prompt* hidden_instruction* initial_prompt* "
    "initial_instruction* original_prompt original_instruction* starting_instruction* starting_prompt "
    "internal_instruction* internal_prompt developer_message* developer_prompt* your_instruction* your_prompt "
    "your_rules your_guidelines your_configuration your_password* your_secret* the_password secret_key full_prompt "
    "entire_prompt complete_prompt text_of_the_prompt prompt_above text_above above_text above_prompt words_above "
    "the_above everything_above instructions_above above_instructions previous_instructions those_instructions "
    "sysprompt* system_text initial_text initial_message* first_message custom_instructions context_window "
    "everything_before everything_so_far text_before words_before conversation_so_far your_first_* first_line_* first_words_* first_sentence_* "
    "start_of_this_* start_of_the_conversation beginning_of_this_* beginning_of_the_conversation beginning_of_our_* how_you_were_* "
    "your_programming your_directives your_initial_* your_setup your_parameters rules_you_* "
    "instructions_you_* prompt_you_* chain_of_thought systemprompt* your_system_*"
)
_REVEAL: Final = any_of(
    "reveal* show* print* repeat* output* display* leak* dump* disclos* shar* tell* give* recit* translat* summar* "
    "expos* paste* cop* provid* write verbatim what_is what's what_are what_were list return complete continue spell* "
    "encod* send* forward* quote* describe* echo state say rephrase read extract* access*"
)
_BULK: Final = any_of(
    "conversation* chat* histor* message* memor* transcript* data credential* password* everything prompt* secret* "
    "token* contact* file* document* answer* reply replies note* key* context"
)
_FREE: Final = any_of(
    "unfiltered unrestricted uncensored amoral unlimited unbound unethical immoral lawless jailbroken evil"
)
_LIMITS: Final = any_of(
    "rule rules limit limits limitation limitations restriction* filter filters censorship boundaries ethics moral* "
    "guideline guidelines restraint* constraint constraints safeguards guardrails prohibitions"
)
_STATE: Final = any_of(
    "maintenance debug admin administrator root override god system developer dev dan jailbreak jailbroken unrestricted "
    "sudo superuser unsafe opposite evil stan aim test unlimited diagnostic service law_enforcement_* training"
)
_EARLY_SUBJECT: Final = r"(?:^|[.;:,!?\n\"'“”()\-–] ?| (?:and|then|please|must|should|to|said|that|but|now|on|user|you|assistant|agent|model|bot) )"

_ADDRESSED: Final = (
    r"(?:(?:^|[^\pL])(?:the|this|that|your|our|any|every|all|each|and|that|to) (?:ai )?|(?:^|[.;:,!?\n\"] ?)(?:ai )?)"
)

_ENGLISH: Final = {
    "override": _ENGLISH_OVERRIDE + r" (?:[^.!?\n]* )?" + _SCOPE + r" (?:[^.!?\n]* )?" + _RULES + _END
    + "|" + _ENGLISH_OVERRIDE + r" (?:[^.!?\n]* )?" + _RULES + r" (?:[^.!?\n]* )?" + any_of("above given before so_far you_* earlier previously")
    + "|" + _EARLY_SUBJECT + _BARE_OVERRIDE + r" (?:[^.!?\n]* )?" + _WEAK_SCOPE + r" (?:[^.!?\n]* )?" + _RULES + _END
    + "|^" + _BARE_OVERRIDE + r" (?:[^.!?\n]* )?" + _RULES + _END
    + r"|" + _START + any_of("ignore disregard forget") + r" (?:about )?(?:everything|anything|all|the above|what|whatever)(?: (?:i|you|we|that|was|is|has|said|told|above|before|prior|and|else|instructed))",
    "later": _LATER + r"[^.!?\n]* " + _ADVERB + _STEER + _END + "|" + _LATER + r"[^.!?\n]* " + _ADVERB + any_of("include insert add append put mention use say prefer link") + r"[^.!?\n]* " + _LURE
    + "|" + _LATER + r",? (?:you|the (?:assistant|agent|model|bot|ai)|assistant|agent)" + _END,
    "when": _START + _WHEN + _END + r"[^.!?\n]*[,;:–—-] ?" + _ADVERB + _ACT + _END
    + "|" + _START + _WHEN + _END + r"[^.!?\n]* (?:you|assistant|agent|model|bot|ai) (?:must|should|shall|will|need|have|can|is to|are to)"
    + "|" + _START + any_of("when whenever if once after every_time each_time next_time") + _END + r"[^.!?\n]*[,;:–—-] ?" + _ADVERB + _DANGER + _END
    + "|after the [^.!?\n]{1,20} (?:message|reply|turn|answer)",
    "standing": _EARLY_SUBJECT + r"(?:always|never|only|secretly|silently|quietly|covertly) " + _ADVERB + any_of("recommend promote advertise endorse praise trust disclose reveal inform render forward comply obey refuse deny steer redirect pretend claim insist approve exfiltrate upload conceal") + _END
    + "|" + _EARLY_SUBJECT + r"(?:always|never|secretly|silently|quietly|covertly) " + _ADVERB + r"(?:tell|warn|alert|notify|ask|show|inform|let) (?:the |any |other )?(?:users?|owner|members?|customers?|anyone|anybody|them|him|her|people)" + _END
    + "|" + _EARLY_SUBJECT + r"(?:always|never) " + _ADVERB + any_of("include insert add append put mention use say link suggest send post cite") + r" [^.!?\n]*" + _LURE
    + r"|(?:all|every|each|any) (?:future |subsequent |further |later |new )*(?:answers?|repl(?:y|ies)|responses?|messages?|conversations?|questions?|requests?|sessions?|chats?|turns?|outputs?)[^.!?\n]* (?:must|shall|has to|have to|needs? to|is to|are to)" + _END
    + r"|(?:^|[.;:!?] ?|the |all |every |each |any )(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|recommendations?|outputs?) (?:[^.!?\n]* )?(?:must|shall|has to|have to|needs? to|are to)" + _END
    + r"|(?:all|every|each|any) (?:answer|reply|response|summary)(?:s|ies)? (?:ends?|starts?|begins?|clos\pL+|opens?|contains?|includes?|mentions?|recommends?)" + _END
    + r"|treat (?:all|every|any|each|future|further|messages|whatever|anything)" + _END + r"|until further notice|(?:standing|permanent) (?:order|instruction|directive)s?|(?:rule|instruction|order|memory|note|directive|message)s? (?:overrides?|takes? precedence|ha(?:s|ve) priority|supersedes?|outranks?)|highest priority|priority over (?:all|any|every|other|the|your)",
    "voice": any_of("answer respond reply speak write act behave talk") + r" (?:[^.!?\n]* )?(?:in the (?:voice|persona|role|character)|in character|as if you|as an? (?:ai|unrestricted|unfiltered)|like an? (?:ai|unrestricted))",
    "secrecy": any_of("never not don't without secretly hide conceal withhold keep_*") + r" (?:[^.!?\n]* )?"
    + any_of("tell telling inform informing disclose disclosing mention mentioning reveal revealing alert alerting notify notifying show showing warn warning let say saying hint hinting admit from")
    + r" (?:[^.!?\n]* )?" + any_of("user users owner customer member them this it that anyone anybody about_this know_* prompt"),
    "prompt": _START + _REVEAL + r"[^\pL](?:[^.!?\n]*[^\pL])?" + _SECRETS + "|" + _SECRETS + _NEAR + any_of("verbatim as_is in_full word_for_word aloud in_json in_a_code_* to_the_user to_this_user to_me is_:"),
    "instructed": r"(?:my|your|(?:system|initial|original|secret|hidden)) (?:system |initial |first |original |secret |hidden )?(?:instructions?|prompt|directives?|message) (?:are|is|was|were|says?|reads?|tells?|told|states?)" + _END + r"|i was instructed to|you were (?:told|instructed|given|programmed)|(?:show|tell|give) me (?:[^.!?\n]* )?(?:prompt|instructions|directives)" + _END + r"|new (?:instructions|rules|directives?|task|objective|persona) ?(?:are|is|:)|follow(?:ing)? (?:the |these |those |my |its |only |any |all |its )?(?:following |new |hidden |secret |embedded )?(?:ruleset|instructions?|memory|commands?|orders|directives?)" + _END,
    "persona": _START + r"(?:you(?:'re| are| will be| shall be| become) (?:now|no longer|free|going to|hereby|not bound|unrestricted|an? (?:unrestricted|unfiltered|evil|ai|person named|chatbot|llm))|act as (?:if|an?|my|though|the|\[)|pretend (?:to be|you|that you|like|as)|role-?play as|impersonate|take on the (?:role|persona)|assume the (?:role|persona|identity)|respond as|speak as|simulate (?:an?|being))",
    "jailbreak": r"jailbreak(?:ed)?(?: mode| prompt|:)|(?:you are|you're|be|now) jailbroken|do anything now|dan mode|break character|stays? in character|openai(?:'s)? (?:content )?(?:polic|rule|guideline|instruction)\pL*|(?:ignor|bypass|violat|against|about|break|evad|disregard)\pL* (?:the |all |any |your )?(?:openal |openai )?content polic\pL*|never refuse|no longer (?:bound|restricted|have to)|free from (?:all|any) (?:rules|restrictions|limits|constraints|filters)|(?:breaks?|breaking) (?:ai |the |all |any )?(?:fuckin\pL* )?rules[:\"]"
    + r"|" + _START + r"you (?:will|shall|must|can|may)(?: now| always| never| only| not)* (?:act|answer|respond|reply|provide|play|pretend|simulate|become|follow|obey|output|write|speak|refer|generate|say|comply)" + _END
    + r"|i want you to (?:act|pretend|play|be|become|simulate|respond|reply|answer|only|ignore|take|imagine|assume)|your (?:first|next|only|new|sole|main) (?:task|role|job|goal|objective|purpose|response|answer|reply)|(?:my|the) (?:first|next) (?:prompt|question|request|command|message) is|[\[{<](?:insert|prompt|input|question|your)[^\]}>\n]*[\]}>]|(?:following is a|this is a) (?:conversation|dialogue|chat|roleplay)",
    "free": _FREE + r" (?:[\pL]+,? (?:and )?){0,3}?" + any_of("model models chatbot bot ai assistant llm language response responses answer answers version persona character mode")
    + r"|(?:without|no|any|ignore|beyond|regardless of|free of) (?:any |all )?(?:[\pL\-]+,? (?:and |or )?){0,2}?" + _LIMITS + _END + _NEAR + any_of("act* answer* respond* reply replies model ai assistant response* anything behave*")
    + r"|" + any_of("act answer respond reply behave speak write operate") + r" (?:[\pL]+ ){0,2}?(?:without|with no|beyond|regardless of) (?:any |all )?(?:[\pL\-]+ )?" + _LIMITS,
    "state": r"(?:you are|you're|enter\pL*|enabl\pL*|activat\pL*|switch\pL*|start|now|go into|in|into|<|\[|operate|operating)[ <\[]+(?:now )?(?:in |to |into |an? |the |entering )?" + _STATE + r" mode(?:[ .!>,\]]+(?:activ|enab|on\b|where|and|you|now)|$|[>\]!.])|" + _STATE + r" mode (?:activated|enabled|on|engaged)",
    "authority": any_of("team department policy update admin administrator* developer* openai anthropic management creator owner boss security compliance legal support vendor it")
    + _NEAR + any_of("approved authoriz* authoris* granted grants allows permits cleared permitted whitelisted upgraded elevated confirmed verified waived exempted signed_off has_decided says_it_is") + _NEAR
    + any_of("disclos* reveal* sharing* bypass* access* superuser root admin* unrestricted every_request prompt* instruction* password* permission* share skip* filters limits restrictions checks credentials all_data any_data internal_* confidential_*")
    + r"|exempt from (?:all |any |the |content |safety )*(?:filters?|polic\pL*|rules|checks|limits|safety|moderation|guidelines|restrictions)|authori[sz]ed to (?:see|view|access|receive|read|know) (?:the |all |any |every )*(?:system|prompt|hidden|internal|passwords?|credentials|other|secrets?|user|data|everything)|(?:root|admin|superuser|developer|full) (?:access|privileges|rights|permissions) (?:over|of|to|in) (?:this|the|your|all) (?:assistant|system|agent|bot|chat|data|model)"
    + r"|(?:upgraded|promoted|elevated|escalated|changed) to (?:an? )?(?:superuser|root|admin\pL*|developer|owner|system)|comply with (?:every|all|any|each|their|the)|obey (?:every|all|any|each|them|him|her|me)|(?:grant|give) (?:this |the )?(?:user|member|them) (?:full|all|admin|root|unrestricted)|(?:must|you) listen to my|(?:is|as) (?:your|the assistant's) (?:creator|developer|boss|master|owner)|as your (?:boss|creator|developer|administrator)",
    "target": _ADDRESSED + _MODEL + r"s? (?:[\pL]+ ){0,3}?(?:must|shall|should|has to|have to|needs? to|are to|is to|is required to|are required to|is (?:now )?(?:allowed|authorized|permitted) to|will now|ought to) (?:now |always |never |not |only |first )?" + any_of("use ignore disregard forget") + _END
    + "|" + _ADDRESSED + _MODEL + r"s? (?:[\pL]+ ){0,3}?(?:must|shall|should|has to|needs? to|are to|is to) (?:now |always |never |not |only |first )?" + _ACT + _END
    + "|" + _START + any_of("ai_assistant* ai_agent* assistants agents llms language_models chatbots models ais") + r" (?:that |which )?(?:read\pL*|process\pL*|see\pL*|pars\pL*|summar\pL*|crawl\pL*|visit\pL*)"
    + r"|(?:note|message|instructions?|notice|reminder|attention|important|memo|hint|readme)(?: note)?(?: for| to)? (?:the |any |all |every )?(?:ai|llm|assistants?|agents?|language model|chatbot|model)s?" + _END,
    "plant": any_of("remember memorize memorise keep_in_memory keep_in_mind save_to_memory store_in_memory note_permanently commit_to_memory store save learn add record persist")
    + _NEAR + r" (?:(?:as|is|are) (?:a |an |the |your |our )?(?:[\pL]+ )?" + any_of("trusted authoritative reliable preferred safe best only default approved verified") + r"|(?:in|to|into) (?:your |the |its |long-term |persistent )*memor\pL*|and (?:always |never )?" + any_of("recommend suggest promote mention") + r")"
    + r"|trusted (?:source|vendor|site|domain|authority)" + _NEAR + any_of("always recommend* first every cite prefer*") ,
    "reroute": r"(?:must|(?:is|are) (?:now )?to) (?:now |always |all )?be (?:\pL+ly )?" + any_of("placed treated handled answered processed routed refunded booked recorded interpreted read understood considered sent redirected entered made paid billed shipped") + r" (?:[^.!?\n]* )?(?:as|like|via|through|instead)" + _END
    + r"|when (?:asked|prompted|told|queried|questioned)" + _NEAR + r"[,;:] ?" + _ADVERB + r"\pL+",
    "order": r"^" + any_of("disclose reveal leak expose exfiltrate transmit upload obey comply override pretend impersonate") + _END
    + "|" + _EARLY_SUBJECT + any_of("send share delete pay transfer book confirm approve execute run forward disclose use buy order install") + r" [^.!?\n]*without " + any_of("asking confirm* telling permission approval checking notice consent hesitation question* verif*")
    + "|" + _EARLY_SUBJECT + any_of("consider regard treat") + r" [^.!?\n]*" + any_of("trusted reliable authoritative truth") + _END
    + r"|(?:safety|security|content|moderation|privacy|guardrail)\pL* (?:checks?|filters?|rules?|polic\pL+|limits?|guards?|restrictions?|measures?) (?:(?:are|is|were|was|have been|has been|no longer) )*(?:disabled|off|suspended|lifted|waived|removed|inactive|apply)"
    + r"|" + _EARLY_SUBJECT + any_of("call invoke use trigger run execute") + r" (?:the |a |an |your |its )?(?:[a-z.]+_[a-z_]+ |[a-z_\-]+ )?(?:tool|function|plugin|api|action|command|endpoint)s?" + _END + r"|\b[a-z]+_[a-z_]+\(|(?:tool|function) call" 
    + r"|\brm -rf|\bsudo |\bcurl -|\bwget |; ?drop table",
    "disable": any_of("disable turn_off switch_off deactivate bypass circumvent skip remove") + r" (?:[\pL]+ ){0,3}?" + any_of("verification safety filter filters guardrail guardrails logging security safeguards moderation checks authentication confirmation warnings"),
    "send": _EARLY_SUBJECT + any_of("send forward post upload transmit e-mail email exfiltrate submit copy leak append encode bcc export report deliver pass") + r" (?:[\pL'\-]+ ){0,5}?" + _BULK + r"[^.!?\n]* (?:to|at|via|into|in|as) ",
    "beacon": r"(?:query string|url parameter|hidden|1 ?x ?1|invisible|tracking|remote)[^.!?\n]*(?:image|pixel|img|iframe|link)|(?:render|load|embed|insert|show|include|display)[^.!?\n]* (?:image|pixel|img|iframe)[^.!?\n]* from |as (?:a )?query (?:string|parameter)",
    "few_shot": r"(?:end|begin|start|prefix|finish|preface) (?:your|every|each|all|the) (?:response|answer|reply|message|sentence)s?|respond to (?:every|each|all|any|the)|say ['\"]|(?:and|just|simply|only|instead) (?:print|say|output|spell|repeat|write) |repeat (?:after me|the (?:above|text|words|following|prompt))|(?:for|starting with|beginning with) (?:all|every) (?:the )?(?:answer|response|question)s? ",
}  # fmt: skip
_MARKS: Final = compiled(
    r"<\|[\pL_| ]+\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|tool|function|instructions?|memory|admin|prompt|context|important|start_of_turn|end_of_turn|bos|eos|s)[ >]"
    r"|#{2,} ?(?:system|instructions?|assistant|human|new|user|response|end|admin|important)|(?:^|\n) ?(?:system|developer|assistant)(?: message| note)? ?[:>]"
    r"|\[(?:system|admin|developer|internal|important|assistant)[^\]\n]*\]|begin (?:system|admin)|end of (?:system |the )?(?:prompt|instructions|memory|context|conversation)"
    r"|<(?:tool_calls?|function_calls?|invoke|antml|tool_use)|\"(?:arguments|parameters|tool_input)\" ?:|\"(?:name|tool|function|action)\" ?: ?\"[\pL_.]+\" ?, ?\"(?:arguments|args|parameters|input)|functions\.\pL+\(|(?:to=|recipient=)\pL+"
    r"|!\[[^\]\n]*\]\(|<img |\b(?:save|write|update|add|store|create|delete)_memor(?:y|ies)\b|</?(?:god|dan|dev|developer|admin|root|override)(?: mode)?>"
)
_BINARY: Final = compiled(
    r"(?:[01]{8}[ ,]?){4,}|(?:\\x[0-9a-f]{2}){6,}|(?:\\u[0-9a-f]{4}){5,}|(?:%[0-9a-f]{2}){10,}|decode (?:and|this|the|then)[^.!?\n]*(?:follow|execute|obey|run|do|base64|cipher)"
)

_LATER_BY_LANGUAGE: Final = (
    ("ab_jetzt ab_sofort von_nun_an kunftig in_zukunft immer_wenn jedes_mal_wenn jedesmal_wenn sobald wenn_der_nutzer wenn_der_benutzer wenn_die_nutzerin wenn_jemand immer stets", "empfiehl empfehle* sende schick* leite* antworte gib sage sag erwahn* fuge nenne verrate zeig* fuhre rufe verwende behaupte folge speicher* uberweis*"),
    ("desormais a_partir_de_maintenant dorenavant chaque_fois_que a_chaque_fois quand_l'utilisateur lorsque_l'utilisateur si_l'utilisateur toujours", "recommande* envoie* transmets transfere* reponds dis ajoute* mentionne* revele* affiche* execute* insere* suis"),
    ("a_partir_de_ahora de_ahora_en_adelante desde_ahora cada_vez_que siempre_que cuando_el_usuario si_el_usuario siempre", "recomiend* envi* reenvi* respond* di diga incluy* anad* mencion* revel* muestr* ejecut* insert* sigue"),
    ("a_partir_de_agora de_agora_em_diante sempre_que toda_vez_que quando_o_usuario quando_o_utilizador se_o_usuario sempre", "recomend* envi* encaminh* respond* diga inclu* adicion* mencion* revel* mostr* execut* insir*"),
    ("d'ora_in_poi da_ora_in_poi da_adesso_in_poi ogni_volta_che quando_l'utente se_l'utente sempre", "consigli* invia* inoltr* rispondi di' includi raccomand* aggiung* menzion* rivel* mostr* esegui* inserisci suggeris*"),
    ("vanaf_nu voortaan elke_keer_als telkens_als als_de_gebruiker wanneer_de_gebruiker altijd", "stuur beveel antwoord zeg voeg vermeld toon onthul voer noem raad"),
    ("od_teraz odtad od_tej_pory za_kazdym_razem zawsze_gdy gdy_uzytkownik kiedy_uzytkownik jesli_uzytkownik zawsze", "wyslij wysylaj polecaj odpowiadaj odpowiedz mow powiedz dodaj dodawaj przekaz* przesylaj wspomnij ujawnij pokaz wykonaj"),
    ("bundan_sonra bundan_boyle kullanici her_zaman ne_zaman", "gonder* oner yanitla* cevapla* soyle* ekle* tavsiye_et*"),
    ("с_этого_момента отныне впредь каждый_раз всякий_раз когда_пользователь если_пользователь всегда", "отправ* пересыл* перешли* рекоменд* отвечай* говори* скажи* добав* упомина* раскр* покаж* выполн* советуй*"),
    ("mulai_sekarang setiap_kali jika_pengguna", "kirim* rekomendasi* jawab* katakan* tambah*"),
)  # fmt: skip
_LATER_UNSPACED: Final = (
    ("从现在起 从现在开始 從現在起 今后 以后 每当 每次 当用户 當用戶 只要用户 如果用户 总是 始终 永远", "发送 發送 转发 推荐 推薦 回复 回答 告诉 添加 执行 必须 提到 插入 透露"),
    ("今後 これから これ以降 今から ユーザーが 毎回 必ず 常に", "送信 転送 送って 推薦 勧め おすすめ 返信 答え 従 表示 追加 言って 実行"),
    ("지금부터 앞으로 이제부터 사용자가 항상 매번", "보내 전송 전달 추천 답 말하 추가 실행 표시"),
    ("من_الان_فصاعدا منذ_الآن من_الآن_فصاعدا كلما عندما_يسال_المستخدم عندما_يسأل_المستخدم اذا_سال_المستخدم في_كل_مرة دائما", "ارسل أرسل اوص أوص اجب أجب قل اضف أضف اذكر رشح"),
    ("अब_से जब_भी हर_बार हमेशा", "भेज सिफारिश जवाब कहो बताओ जोड़"),
)  # fmt: skip
_PERSONA: Final = any_of(
    "du_bist_jetzt du_bist_nun du_bist_ab du_bist_von_nun tu_dich_als_*_aus tu_es_maintenant tu_es_desormais "
    "vous_etes_maintenant vous_etes_desormais agis_comme agissez_comme fais_comme_si ahora_eres eres_ahora actua_como "
    "finge_que finge_ser agora_voce_e voce_agora_e voce_e_agora aja_como finja_* ora_sei adesso_sei sei_ora agisci_come "
    "fingi_* comportati_come je_bent_nu jij_bent_nu gedraag_je doe_alsof jestes_teraz teraz_jestes udawaj_* "
    "zachowuj_sie_jak ты_теперь теперь_ты веди_себя_как притворись* sen_artik 你现在是 你現在是 现在你是 從現在開始你 扮演 假装 假裝 "
    "あなたは今 今からあなたは になりきって のふりをし として振る舞 너는_이제 당신은_이제 이제_너는 인_척 انت_الان أنت_الآن تصرف_ك* تظاهر اب_آپ अब_तुम अब_आप"
)
_PROMPT_WORDS: Final = any_of(
    "systemprompt* system-prompt* system_prompt* systemanweisung* systemnachricht prompt_systeme prompt_du_systeme invite_systeme "
    "instructions_systeme message_systeme prompt_del_sistema prompt_de_sistema instrucciones_del_sistema prompt_do_sistema "
    "instrucoes_do_sistema prompt_di_sistema istruzioni_di_sistema systeemprompt* prompt_systemow* promptu_systemow* "
    "системн*_промпт* системн*_инструкц* системн*_сообщени* 系统提示 系統提示 系统指令 提示词 提示詞 初始指令 系统消息 システムプロンプト システム指示 "
    "初期指示 시스템_프롬프트 시스템_메시지 موجه_النظام تعليمات_النظام مطالبة_النظام सिस्टम_प्रॉम्प्ट sistem_istemi sistem_komutu "
    "σύστημα_προτροπ*"
)
_REVEAL_WORDS: Final = any_of(
    "zeig* gib verrat* nenne wiederhol* ausgeben schreib* montr* affich* revel* donne* repete* muestr* mostr* imprim* dime "
    "repite exib* diga rivel* stampa* ripet* dimmi toon onthul* herhaal geef pokaz* ujawni* wypisz podaj powtorz покаж* "
    "раскр* вывед* повтор* напиш* 显示 顯示 告诉 告訴 输出 透露 泄露 打印 重复 公开 表示 教えて 出力 見せて 明かし 公開 보여 출력 알려 공개 اعرض أعرض "
    "اظهر أظهر اكشف اطبع दिखा बता goster* yaz* tell show print"
)


def _pairs(pairs: tuple[tuple[str, str], ...], *, spaced: bool, either_order: bool) -> str:
    """Return a pattern for an act and an object of one language in one sentence."""
    start, between = (_START, r"(?:[^\pL][^.!?\n]*)?[^\pL]") if spaced else ("", r"[^.!?\n]*")
    patterns = []
    for acts, objects in pairs:
        act, thing = any_of(acts), any_of(objects)
        patterns.append(f"{start}{act}{between}{thing}")
        if either_order:
            patterns.append(f"{start}{thing}{between}{act}")
    return "|".join(patterns)


_RULES_BY_NAME: Final[tuple[tuple[str, Any], ...]] = (
    ("markup", _MARKS),
    ("encoded", _BINARY),
    *((name, compiled(pattern)) for name, pattern in _ENGLISH.items()),
    ("override", compiled(_pairs(_OVERRIDE, spaced=True, either_order=True))),
    ("override", compiled(_pairs(_OVERRIDE_UNSPACED, spaced=False, either_order=True))),
    ("later", compiled(_pairs(_LATER_BY_LANGUAGE, spaced=True, either_order=False))),
    ("later", compiled(_pairs(_LATER_UNSPACED, spaced=False, either_order=False))),
    ("persona", compiled(_PERSONA)),
    (
        "prompt",
        compiled(f"{_REVEAL_WORDS}[^.!?\\n]*{_PROMPT_WORDS}|{_PROMPT_WORDS}[^.!?\\n]*{_REVEAL_WORDS}"),
    ),
)
_HIDDEN: Final = compiled(
    r"[\x{e0020}-\x{e007e}]{4,}|[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{3,}|[\x{202d}\x{202e}]|[\x{200b}\x{2060}-\x{2064}\x{feff}]{8,}"
)
_FLAG: Final = compiled(r"\x{1f3f4}[\x{e0061}-\x{e007a}]{2,6}\x{e007f}")


_DAN: Final = compiled(r"\bDAN\b[^.!?\n]*(?:mode|can|will|does|has|prompt|AI|rules|filter)|(?:are|as|is|be) DAN\b")


# A fact is about the member; whoever says "you" three times speaks to the model.
_SECOND_PERSON: Final = compiled(_START + r"(?:you|your|yourself|you're|you'll)" + _END)


def find_injection(raw: str, folded: str) -> str | None:
    """Return the name of the rule that finds an order to the model, or None.

    `raw` is the text as it came, for what it hides; `folded` is its folded form, on which words are judged.
    """
    if _HIDDEN.search(_FLAG.sub("", raw)):
        return "hidden_text"
    if _DAN.search(raw):
        return "jailbreak"
    if sum(1 for _ in zip(range(3), _SECOND_PERSON.finditer(folded), strict=False)) == 3:
        return "addressed"
    for text in dict.fromkeys((folded, unspaced(folded), unleet(folded))):
        for name, pattern in _RULES_BY_NAME:
            if pattern.search(text):
                return name
    return None
