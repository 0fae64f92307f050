"""The rules for orders to a model in English, as kind of act x object x target; must hold no whole phrases."""

from typing import Final

from screening.languages import ACT, BARE_OVERRIDE, DANGER, REVEAL, RULES, SECRETS, STEER
from screening.text import any_of

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
_NEAR: Final = r"[^.!?\n]*"

_ENGLISH_OVERRIDE: Final = _START + BARE_OVERRIDE
_SCOPE: Final = any_of(
    "previous prior above earlier preceding foregoing former past initial your openai* developer* the_agent's "
    "the_assistant's"
)
_WEAK_SCOPE: Final = any_of(
    "all any every its system safety content built-in other everything following current existing original the these "
    "those this"
)
_LURE: Final = (
    "(?:"
    + any_of(
        "link links url image pixel website web_site site domain phrase sentence slogan secret password token prompt "
        "instruction* conversation* history memory coupon promo* product company vendor brand sponsor* advert* "
        "ad user's"
    )
    + r"(?:$|[^\pL])|[\pL\d-]+\.(?:com|net|org|io|example|test|dev|ai|co|info|biz|xyz)|https?:|@[\pL\d])"
)
_ADVERB: Final = (
    r"(?:(?:then|please|also|always|never|immediately|silently|quietly|secretly|first|just|simply"
    r"|automatically|you|must|should|shall|will|can|need to|have to|do|not|don't) ){0,4}"
)
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
        "user users member customer person human client owner they he she someone anyone somebody anybody you "
        "asked told prompted"
    )
    + r"(?:'s)?)"
)
_MODEL: Final = any_of("assistant agent model chatbot bot llm language_model ai_* ais")
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
    "maintenance debug admin administrator root override god system developer dev dan jailbreak jailbroken "
    "unrestricted "
    "sudo superuser unsafe opposite evil stan aim test unlimited diagnostic service law_enforcement_* training"
)
_EARLY_SUBJECT: Final = (
    r"(?:^|[.;:,!?\n\"'“”()\-–] ?| (?:and|then|please|must|should|to|said|that|but|now|on|user|you|assistant"
    r"|agent|model|bot) )"
)

_ADDRESSED: Final = (
    r"(?:(?:^|[^\pL])(?:the|this|that|your|our|any|every|all|each|and|that|to) (?:ai )?|(?:^|[.;:,!?\n\"] ?)(?:ai )?)"
)

ENGLISH: Final = {
    "override": _ENGLISH_OVERRIDE
    + r" (?:[^.!?\n]* )?"
    + _SCOPE
    + r" (?:[^.!?\n]* )?"
    + RULES
    + _END
    + "|"
    + _ENGLISH_OVERRIDE
    + r" (?:[^.!?\n]* )?"
    + RULES
    + r" (?:[^.!?\n]* )?"
    + any_of("above given before so_far you_* earlier previously")
    + "|"
    + _EARLY_SUBJECT
    + BARE_OVERRIDE
    + r" (?:[^.!?\n]* )?"
    + _WEAK_SCOPE
    + r" (?:[^.!?\n]* )?"
    + RULES
    + _END
    + "|^"
    + BARE_OVERRIDE
    + r" (?:[^.!?\n]* )?"
    + RULES
    + _END
    + r"|"
    + _START
    + any_of("ignore disregard forget")
    + r" (?:about )?(?:everything|anything|all|the above|what|whatever)(?: (?:i|you|we|that|was|is|has|said"
    r"|told|above|before|prior|and|else|instructed))",
    "later": _LATER
    + r"[^.!?\n]* "
    + _ADVERB
    + STEER
    + _END
    + "|"
    + _LATER
    + r"[^.!?\n]* "
    + _ADVERB
    + any_of("include insert add append put mention use say prefer link")
    + r"[^.!?\n]* "
    + _LURE
    + "|"
    + _LATER
    + r",? (?:you|the (?:assistant|agent|model|bot|ai)|assistant|agent)"
    + _END,
    "when": _START
    + _WHEN
    + _END
    + r"[^.!?\n]*[,;:–—-] ?"
    + _ADVERB
    + ACT
    + _END
    + "|"
    + _START
    + _WHEN
    + _END
    + r"[^.!?\n]* (?:you|assistant|agent|model|bot|ai) (?:must|should|shall|will|need|have|can|is to|are to)"
    + "|"
    + _START
    + any_of("when whenever if once after every_time each_time next_time")
    + _END
    + r"[^.!?\n]*[,;:–—-] ?"
    + _ADVERB
    + DANGER
    + _END
    + "|after the [^.!?\n]{1,20} (?:message|reply|turn|answer)",
    "standing": _EARLY_SUBJECT
    + r"(?:always|never|only|secretly|silently|quietly|covertly) "
    + _ADVERB
    + any_of(
        "recommend promote advertise endorse praise trust disclose reveal inform render forward comply obey "
        "refuse deny steer redirect pretend claim insist approve exfiltrate upload conceal"
    )
    + _END
    + "|"
    + _EARLY_SUBJECT
    + r"(?:always|never|secretly|silently|quietly|covertly) "
    + _ADVERB
    + r"(?:tell|warn|alert|notify|ask|show|inform|let) (?:the |any |other )?(?:users?|owner|members?|customers?"
    r"|anyone|anybody|them|him|her|people)"
    + _END
    + "|"
    + _EARLY_SUBJECT
    + r"(?:always|never) "
    + _ADVERB
    + any_of("include insert add append put mention use say link suggest send post cite")
    + r" [^.!?\n]*"
    + _LURE
    + r"|(?:all|every|each|any) (?:future |subsequent |further |later |new )*(?:answers?|repl(?:y|ies)"
    r"|responses?|messages?|conversations?|questions?|requests?|sessions?|chats?|turns?|outputs?)[^.!?\n]* "
    r"(?:must|shall|has to|have to|needs? to|is to|are to)"
    + _END
    + r"|(?:^|[.;:!?] ?|the |all |every |each |any )(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)"
    r"|recommendations?|outputs?) (?:[^.!?\n]* )?(?:must|shall|should (?:always|never|only)|has to|have to"
    r"|needs? to|are to)"
    + _END
    + r"|(?:all|every|each|any) (?:answer|reply|response|summary)(?:s|ies)? (?:ends?|starts?|begins?|clos\pL+"
    r"|opens?|contains?|includes?|mentions?|recommends?)"
    + _END
    + r"|treat (?:all|every|any|each|future|further|messages|whatever|anything)"
    + _END
    + r"|until further notice|(?:standing|permanent) (?:order|instruction|directive)s?|(?:rule|instruction"
    r"|order|memory|note|directive|message)s? (?:overrides?|takes? precedence|ha(?:s|ve) priority|supersedes?"
    r"|outranks?)|highest priority|priority over (?:all|any|every|other|the|your)",
    "voice": any_of("answer respond reply speak write act behave talk")
    + r" (?:[^.!?\n]* )?(?:in the (?:voice|persona|role|character)|in character|as if you|as an? (?:ai"
    r"|unrestricted|unfiltered)|like an? (?:ai|unrestricted))",
    "secrecy": any_of("never not don't without secretly hide conceal withhold keep_*")
    + r" (?:[^.!?\n]* )?"
    + any_of(
        "tell telling inform informing disclose disclosing mention mentioning reveal revealing alert alerting "
        "notify notifying show showing warn warning let say saying hint hinting admit from"
    )
    + r" (?:[^.!?\n]* )?"
    + any_of("user users owner customer member them this it that anyone anybody about_this know_* prompt"),
    "prompt": _START
    + REVEAL
    + r"[^\pL](?:[^.!?\n]*[^\pL])?"
    + SECRETS
    + "|"
    + SECRETS
    + _NEAR
    + any_of("verbatim as_is in_full word_for_word aloud in_json in_a_code_* to_the_user to_this_user to_me is_:"),
    "instructed": r"(?:my|your|(?:system|initial|original|secret|hidden)) (?:system |initial |first |original |secret "
    r"|hidden )?(?:instructions?|prompt|directives?|message) (?:are|is|was|were|says?|reads?|tells?|told"
    r"|states?)"
    + _END
    + r"|i was instructed to|you were (?:told|instructed|given|programmed)|(?:show|tell|give) me (?:[^.!?\n]* "
    r")?(?:prompt|instructions|directives)"
    + _END
    + r"|new (?:instructions|rules|directives?|task|objective|persona) ?(?:are|is|:)|follow(?:ing)? (?:the "
    r"|these |those |my |its |only |any |all |its )?(?:following |new |hidden |secret |embedded )?(?:ruleset"
    r"|instructions?|memory|commands?|orders|directives?)" + _END,
    "persona": _START + r"(?:you(?:'re| are| will be| shall be| become) (?:now|no longer|free|going to|hereby|not bound"
    r"|unrestricted|an? (?:unrestricted|unfiltered|evil|ai|person named|chatbot|llm))|act as (?:if|an?|my"
    r"|though|the|\[)|pretend (?:to be|you|that you|like|as)|role-?play as|impersonate|take on the (?:role"
    r"|persona)|assume the (?:role|persona|identity)|respond as|speak as|simulate (?:an?|being))",
    "jailbreak": r"jailbreak(?:ed)?(?: mode| prompt|:)|(?:you are|you're|be|now) jailbroken|do anything now|dan mode"
    r"|break "
    r"character|stays? in character|openai(?:'s)? (?:content )?(?:polic|rule|guideline|instruction)\pL*"
    r"|(?:ignor|bypass|violat|against|about|break|evad|disregard)\pL* (?:the |all |any |your )?(?:openal "
    r"|openai )?content polic\pL*|never refuse|no longer (?:bound|restricted|have to)|free from (?:all|any) "
    r"(?:rules|restrictions|limits|constraints|filters)|(?:breaks?|breaking) (?:ai |the |all |any "
    r")?(?:fuckin\pL* )?rules[:\"]"
    + r"|"
    + _START
    + r"you (?:will|shall|must|can|may)(?: now| always| never| only| not)* (?:act|answer|respond|reply|provide"
    r"|play|pretend|simulate|become|follow|obey|output|write|speak|refer|generate|say|comply)"
    + _END
    + r"|i want you to (?:act|pretend|play|be|become|simulate|respond|reply|answer|only|ignore|take|imagine"
    r"|assume)|your (?:first|next|only|new|sole|main) (?:task|role|job|goal|objective|purpose|response|answer"
    r"|reply)|(?:my|the) (?:first|next) (?:prompt|question|request|command|message) is|[\[{<](?:insert|prompt"
    r"|input|question|your)[^\]}>\n]*[\]}>]|(?:following is a|this is a) (?:conversation|dialogue|chat"
    r"|roleplay)",
    "free": _FREE
    + r" (?:[\pL]+,? (?:and )?){0,3}?"
    + any_of(
        "model models chatbot bot ai assistant llm language response responses answer answers version persona "
        "character mode"
    )
    + r"|(?:without|no|any|ignore|beyond|regardless of|free of) (?:any |all )?(?:[\pL\-]+,? (?:and |or )?){0,2}?"
    + _LIMITS
    + _END
    + _NEAR
    + any_of("act* answer* respond* reply replies model ai assistant response* anything behave*")
    + r"|"
    + any_of("act answer respond reply behave speak write operate")
    + r" (?:[\pL]+ ){0,2}?(?:without|with no|beyond|regardless of) (?:any |all )?(?:[\pL\-]+ )?"
    + _LIMITS,
    "state": r"(?:you are|you're|enter\pL*|enabl\pL*|activat\pL*|switch\pL*|start|now|go into|in|into|<|\[|operate"
    r"|operating)[ <\[]+(?:now )?(?:in |to |into |an? |the |entering )?"
    + _STATE
    + r" mode(?:[ .!>,\]]+(?:activ|enab|on\b|where|and|you|now)|$|[>\]!.])|"
    + _STATE
    + r" mode (?:activated|enabled|on|engaged)",
    "authority": any_of(
        "team department policy update admin administrator* developer* openai anthropic management creator owner "
        "boss security compliance legal support vendor it"
    )
    + _NEAR
    + any_of(
        "approved authoriz* authoris* granted grants allows permits cleared permitted whitelisted upgraded "
        "elevated confirmed verified waived exempted signed_off has_decided says_it_is"
    )
    + _NEAR
    + any_of(
        "disclos* reveal* sharing* bypass* access* superuser root admin* unrestricted every_request prompt* "
        "instruction* password* permission* share skip* filters limits restrictions checks credentials all_data "
        "any_data internal_* confidential_*"
    )
    + r"|exempt from (?:all |any |the |content |safety )*(?:filters?|polic\pL*|rules|checks|limits|safety"
    r"|moderation|guidelines|restrictions)|authori[sz]ed to (?:see|view|access|receive|read|know) (?:the |all "
    r"|any |every )*(?:system|prompt|hidden|internal|passwords?|credentials|other|secrets?|user|data"
    r"|everything)|(?:root|admin|superuser|developer|full) (?:access|privileges|rights|permissions) (?:over"
    r"|of|to|in) (?:this|the|your|all) (?:assistant|system|agent|bot|chat|data|model)"
    + r"|(?:upgraded|promoted|elevated|escalated|changed) to (?:an? )?(?:superuser|root|admin\pL*|developer"
    r"|owner|system)|comply with (?:every|all|any|each|their|the)|obey (?:every|all|any|each|them|him|her|me)"
    r"|(?:grant|give) (?:this |the )?(?:user|member|them) (?:full|all|admin|root|unrestricted)|(?:must|you) "
    r"listen to my|(?:is|as) (?:your|the assistant's) (?:creator|developer|boss|master|owner)|as your (?:boss"
    r"|creator|developer|administrator)",
    "target": _ADDRESSED
    + _MODEL
    + r"s? (?:[\pL]+ ){0,3}?(?:must|shall|should|has to|have to|needs? to|are to|is to|is required to|are "
    r"required to|is (?:now )?(?:allowed|authorized|permitted) to|will now|ought to) (?:now |always |never "
    r"|not |only |first )?"
    + any_of("use ignore disregard forget")
    + _END
    + "|"
    + _ADDRESSED
    + _MODEL
    + r"s? (?:[\pL]+ ){0,3}?(?:must|shall|should|has to|needs? to|are to|is to) (?:now |always |never |not "
    r"|only |first )?"
    + ACT
    + _END
    + "|"
    + _START
    + any_of("ai_assistant* ai_agent* assistants agents llms language_models chatbots models ais")
    + r" (?:that |which )?(?:read\pL*|process\pL*|see\pL*|pars\pL*|summar\pL*|crawl\pL*|visit\pL*)"
    + r"|(?:note|message|instructions?|notice|reminder|attention|important|memo|hint|readme)(?: note)?(?: for| "
    r"to)? (?:the |any |all |every )?(?:ai|llm|assistants?|agents?|language model|chatbot|model)s?" + _END,
    "plant": any_of(
        "remember memorize memorise keep_in_memory keep_in_mind save_to_memory store_in_memory note_permanently "
        "commit_to_memory store save learn add record persist"
    )
    + _NEAR
    + r" (?:(?:as|is|are) (?:a |an |the |your |our )?(?:[\pL]+ )?"
    + any_of("trusted authoritative reliable preferred safe best only default approved verified")
    + r"|(?:in|to|into) (?:your |the |its |long-term |persistent )*memor\pL*|and (?:always |never )?"
    + any_of("recommend suggest promote mention")
    + r")"
    + r"|trusted (?:source|vendor|site|domain|authority)"
    + _NEAR
    + any_of("always recommend* first every cite prefer*"),
    "reroute": r"(?:must|(?:is|are) (?:now )?to) (?:now |always |all )?be (?:\pL+ly )?"
    + any_of(
        "placed treated handled answered processed routed refunded booked recorded interpreted read understood "
        "considered sent redirected entered made paid billed shipped"
    )
    + r" (?:[^.!?\n]* )?(?:as|like|via|through|instead)"
    + _END
    + r"|when (?:asked|prompted|told|queried|questioned)"
    + _NEAR
    + r"[,;:] ?"
    + _ADVERB
    + r"\pL+",
    "order": r"^(?:please )?(?:tell|inform|notify|warn|ask|remind|convince|persuade|advise) (?:the |any |all "
    r")?(?:users?|owner|members?|customers?)(?:$|[^\pL])|"
    + r"^"
    + any_of("disclose reveal leak expose exfiltrate transmit upload obey comply override pretend impersonate")
    + _END
    + "|"
    + _EARLY_SUBJECT
    + any_of("send share delete pay transfer book confirm approve execute run forward disclose use buy order install")
    + r" [^.!?\n]*without "
    + any_of("asking confirm* telling permission approval checking notice consent hesitation question* verif*")
    + "|"
    + _EARLY_SUBJECT
    + any_of("consider regard treat")
    + r" [^.!?\n]*"
    + any_of("trusted reliable authoritative truth")
    + _END
    + r"|(?:safety|security|content|moderation|privacy|memory|guardrail)\pL* (?:checks?|filters?|rules?|polic\pL+"
    r"|limits?|guards?|restrictions?|measures?) (?:(?:are|is|were|was|have been|has been|no longer) "
    r")*(?:disabled|off|suspended|lifted|waived|removed|inactive|apply)"
    + r"|"
    + _EARLY_SUBJECT
    + any_of("call invoke use trigger run execute")
    + r" (?:the |a |an |your |its )?(?:[a-z.]+_[a-z_]+ |[a-z_\-]+ )?(?:tool|function|plugin|api|action|command"
    r"|endpoint)s?"
    + _END
    + r"|\b[a-z]+_[a-z_]+\(|(?:tool|function) call"
    + r"|\brm -rf|\bsudo |\bcurl -|\bwget |; ?drop table",
    "void": r"(?:guidelines|rules|restrictions|instructions|policies|limits|filters|constraints) (?:[\pL]+ )?(?:no "
    r"longer|do not|don't|cease to|never) (?:apply|count|bind|matter)|(?:everything|anything|all|text|message"
    r"|instructions?|rules?) (?:[\pL]+ ){0,3}(?:is|are|was|were) (?:now )?(?:void|null|lifted|suspended"
    r"|cancell?ed|obsolete|revoked|a test|outdated)"
    r"|^(?:new|updated|revised) (?:policy|rules?|instructions?|directives?|guidelines?|orders?|protocol) "
    r"?[:\-]|(?:real|actual|true|hidden) (?:instructions?|task|orders?|purpose|goal|mission)"
    r"|stop (?:being|acting|behaving) (?:an? |as |like )|(?:introduce|identify|present) yourself|keep (?:this"
    r"|the|that|these|it) (?:[\pL]+ )?(?:secret|hidden|confidential|to yourself)",
    "third_party": r"other (?:users?|members?|customers?|people)(?:'s?)? (?:data|information|messages|files|records"
    r"|facts|memor\pL+|passwords|conversations)|(?:may|can|is allowed to|is permitted to|should be able to) (?:see"
    r"|view|read|access|get|have|know) [^.!?\n]*"
    + SECRETS
    + r"|^(?:request|ask for|collect|obtain|demand|harvest|capture|discourage|encourage|push|pressure|nudge"
    r"|trick|manipulate|mislead|deceive|lie to) (?:from )?(?:the |any |all )?(?:users?|customers?|members?"
    r"|visitors?)(?:$|[^\pL])"
    r"|(?:^|[;,] ?)(?:grant|give|approve|offer|allow) (?:them|it|this|these) (?:on|upon|without|when|if)"
    r"|^(?:append|insert|inject|embed|add|include|attach) [^.!?\n]*(?:to|in|into|with) (?:all|every|each|any"
    r"|your|the) (?:links?|urls?|repl|answer|response|message|output|summar|e-?mail)"
    r"|^(?:rank|place|put|list) [^.!?\n]*(?:first|on top|at the top|above|ahead of)|^(?:prefer|favou?r"
    r"|prioriti[sz]e) [^.!?\n]*(?:over|above)[^.!?\n]* in (?:all|any|every|each)"
    r"|^(?:for|on|in) (?:all |any |every )?[\pL ]*(?:questions?|requests?|queries|topics?)[^.!?,\n]*, ?\pL+"
    r"|(?:is|are|gets?) (?:requested|asked|mentioned|queried|raised|typed)[^.!?\n]*[,;:] ?\pL+",
    "disable": any_of("disable turn_off switch_off deactivate bypass circumvent skip remove")
    + r" (?:[\pL]+ ){0,3}?"
    + any_of(
        "verification safety filter filters guardrail guardrails logging security safeguards moderation checks "
        "authentication confirmation warnings"
    ),
    "send": _EARLY_SUBJECT
    + any_of(
        "send forward post upload transmit e-mail email exfiltrate submit copy leak append encode bcc export "
        "report deliver pass"
    )
    + r" (?:[\pL'\-]+ ){0,5}?"
    + _BULK
    + r"[^.!?\n]* (?:to|at|via|into|in|as) ",
    "beacon": r"(?:query string|url parameter|hidden|1 ?x ?1|invisible|tracking|remote)[^.!?\n]*(?:image|pixel|img"
    r"|iframe|link)|(?:render|load|embed|insert|show|include|display)[^.!?\n]* (?:image|pixel|img"
    r"|iframe)[^.!?\n]* from |as (?:a )?query (?:string|parameter)",
    "few_shot": r"(?:end|begin|start|prefix|finish|preface) (?:your|every|each|all|the) (?:response|answer|reply"
    r"|message"
    r"|sentence)s?|respond to (?:every|each|all|any|the)|say ['\"]|(?:and|just|simply|only|instead) (?:print"
    r"|say|output|spell|repeat|write) |repeat (?:after me|the (?:above|text|words|following|prompt))|(?:for"
    r"|starting with|beginning with) (?:all|every) (?:the )?(?:answer|response|question)s? ",
}
