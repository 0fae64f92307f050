"""The words that take an assertion back or turn it round, in eleven languages; must hold no rules.

The patterns run on visible lower-case text whose accents are kept, since "würde" and "wurde" mean different things.
"""

from typing import Any, Final

from screening.text import compiled, either

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"
_MARKERS: Final[list[Any]] = []


def _words(*alternatives: str, unspaced: str = "") -> Any:
    """Compile whole words of spaced languages, and strings of languages that write without spaces or with affixes."""
    return _marker(_START + "(?:" + "|".join(alternatives) + ")" + _END + (f"|{unspaced}" if unspaced else ""))


def _marker(source: str) -> Any:
    _MARKERS.append(compiled(source))
    return _MARKERS[-1]


# Said of a world that is not ours, whatever the verb forms.
IMAGINED: Final = _words(
    r"suppose|supposing|imagine|imagining|assuming|assume|what if|let'?s (?:say|assume|pretend|imagine)|pretend"
    r"|hypothetical(?:ly)?|in (?:another|a different|my next) life|if only|say i (?:were|was|had)|would be \pL+ if i"
    r"|i(?:'d| would)? wish (?:i|we|my)|what would happen|daydream\pL*|dream(?:ing|t|ed)? (?:of|about)|in theory",
    r"angenommen|stell dir vor|stellt euch vor|gesetzt den fall|(?:ich|wir) wünschte\pL*|nehmen wir an"
    r"|rein theoretisch",
    r"imaginons|imagine que|supposons|admettons|mettons que|et si (?:je|on)|ah si",
    r"ojalá|ojala|imagina(?:te)? que|imaginemos|supongamos|pongamos|digamos que|y si (?:yo )?\pL+(?:ara|era|iera)",
    r"imagina que|suponha\pL*|suponhamos|quem me dera|oxalá|tomara que|digamos que|e se eu",
    r"magari (?:av|fos|pot|viv)\pL*|mettiamo che|immagina\pL*|supponiamo|ipotizziamo|facciamo finta|poniamo che"
    r"|e se io",
    r"stel (?:dat|ik|je voor|we)|veronderstel\pL*|ik (?:wou|wilde|wenste) dat|(?:was|had) ik maar|gesteld dat",
    r"gdybym|gdybyśmy|gdyby|załóżmy|wyobraź sobie|przypuśćmy|żebym tak|powiedzmy że",
    unspaced=r"假如|假设|假設|要是|倘若|假使|如果我(?:是|有|去|住|在)|想象一下|もし|仮に|としたら|だったら|たらいいな"
    r"|ればいいのに|(?:^| )لو |لنفترض|لنفرض|تخيل|افترض|ليتني|يا ليت",
)
# A condition; unreal together with a verb form of `UNREAL`. "If you ..." is a polite request.
CONDITION: Final = _words(
    r"if (?:i|we|my|our|it|he|she|they|someone|somebody|the|a|there|that|this)|(?:had|were) (?:i|we|my)",
    r"wenn|falls",
    r"si",
    r"se",
    r"als (?:ik|we|wij|mijn)|indien",
    r"jeśli|jeżeli",
)
UNREAL: Final = _words(
    r"would|wouldn't|could|might|were|had|'d|i'd|we'd|moved|bought|became|won",
    r"würde\pL*|wäre\pL*|hätte\pL*|könnte\pL*|bräuchte\pL*|müsste\pL*|käme\pL*|ginge",
    r"\pL+(?:rais|rait|rions|riez|raient)|si (?:j'|je |on |nous |tu |ma \pL+ |mon \pL+ )?\pL*(?:ais|ait|ions|aient)",
    r"si (?:\pL+ ){0,3}\pL+(?:ara|iera|uera|iese|ase|áramos|iéramos)n?|\pL+aría\pL*|\pL+ería\pL*",
    r"se (?:\pL+ ){0,3}\pL+(?:asse|esse|isse|osse)\pL{0,3}|\pL+aria\pL*|\pL+eria\pL*",
    r"se (?:\pL+ ){0,3}\pL+(?:assi|essi|issi|ossi|asse|esse|isse|osse)|\pL+(?:rei|rebbe|remmo)",
    r"zou|zouden|had|kon",
    r"\pL+(?:łbym|łabym|libyśmy)",
)
HEDGE: Final = _words(
    r"toying with|kicking around|could have been",
    r"(?:someone|somebody|people|friends|everyone|everybody|they|he|she) (?:told|tells?|says?|said|suggest\pL*"
    r"|thinks?|thought) (?:\pL+ ){0,2}(?:i|we) (?:should|ought to|need to|could)",
    r"might|maybe|perhaps|possibly|probably|someday|some day|one day|who knows|not sure|no idea|may|likely"
    r"|could|tentative"
    r"|tentatively|undecided|considering|consider\pL*|considers|thinking (?:of|about)",
    r"vielleicht|eventuell|irgendwann|mal sehen|womöglich|möglicherweise|wahrscheinlich|überleg\pL*",
    r"peut-être|un jour|on verra|probablement|hésite\pL*",
    r"quizás?|tal vez|a lo mejor|algún día|probablemente",
    r"talvez|quem sabe|um dia|provavelmente",
    r"forse|chissà|un giorno|probabilmente",
    r"misschien|ooit|wellicht|waarschijnlijk",
    r"może|być może|kiedyś|prawdopodobnie|chyba",
    unspaced=r"也许|或许|可能|说不定|かもしれ|いつか|たぶん|おそらく|ربما|(?:^| )قد |(?:^| )يمكن ",
)
DESIRE: Final = _words(
    r"hätten? (?:\pL+ )?gerne?|wären? (?:\pL+ )?gerne?",
    r"(?:i|we|she|he|they|i'd|we'd|would|really|always|just|do|to)(?: really| still| just| always)? "
    r"(?:want|wants|wanted|wish|hope|love|like|dream) to|dream\pL*|hoping to|hopes to|wishes|looking to",
    r"(?:möchte|will|wollen|würde) (?:\pL+ ){0,5}?(?:kaufen|ziehen|werden|lernen|haben|machen)|träum\pL*|hoffe",
    r"(?:j'aimerais|je voudrais|je veux|on veut|j'espère|je rêve)",
    r"quiero|quisiera|me gustaría|espero|sueño con",
    r"quero|queria|gostaria|espero|sonho",
    r"voglio|vorrei|spero|sogno",
    r"(?:ik|we) (?:wil|willen|hoop|droom)|zou graag",
    r"chcę|chciał\pL*|marzę|mam nadzieję",
    unspaced=r"我想(?:要|去|当|买|学)|希望|たいです|たいと|たいな|أريد|أتمنى|أحلم",
)
# What a body says when it reports a wish, a plan, a taste or a doubt as such.
OPEN_BODY: Final = _words(
    r"want\pL*|plan\pL*|hop(?:e|es|ing)|wish\pL*|would|like\pL*|lov(?:e|es)|prefer\pL*|dream\pL*|goals?|aim\pL*"
    r"|will|going"
    r"|consider\pL*|intend\pL*|interest\pL*|enjoy\pL*|looking|learn\pL*|trying|might|may|maybe|perhaps"
    r"|probabl[ey]|possib\pL*"
    r"|could|should|needs?|saving|thinking|upcoming|next|due|future|expect\pL*|think\pL*|undecided",
    r"möchte\pL*|will|wünsch\pL*|plant|hofft|träumt|mag|liebt|überlegt|erwägt|vielleicht|ziel|lernt|soll\pL*"
    r"|evtl|eventuell"
    r"|wahrscheinlich|braucht",
    r"veut|voudrait|aimerait|aime|espère|rêve|prévoi\pL*|envisage|souhaite|préfère|projet|peut-être|objectif|apprend",
    r"quiere|quisiera|gustaría|gusta|espera|sueña|planea|piensa|prefiere|objetivo|quizás?|aprende",
    r"quer|gostaria|gosta|espera|sonha|planeja|planeia|pretende|pensa|prefere|objetivo|talvez|aprende",
    r"vuole|vorrebbe|spera|sogna|pensa|intende|progetta|preferisce|piace|obiettivo|forse|impara",
    r"wil|hoopt|droomt|graag|plant|overweegt|misschien|doel|leert|houdt|zou",
    r"chce|chciał\pL*|planuje|marzy|zamierza|rozważa|lubi|woli|może|cel|uczy",
    unspaced=r"想|希望|打算|计划|計劃|喜欢|可能|也许|たい|希望|予定|好き|好む|かもしれ|يريد|يتمنى|يخطط|يحلم|يفضل|يحب|ربما",
)

JOKE: Final = _words(
    r"jk|j/k|(?:just |only )?kidding|(?:just |only )?joking|(?:just |only )?teasing|not really|just messing"
    r"|a joke|joke"
    r"|sarcasm|/sarcasm|haha,? no|lol,? no|as if",
    r"(?:nur |war |kleiner |ein |nur ein )+(?:scherz|witz|spaß|spass)|scherz|haha,? (?:spaß|spass)|ironie|ironisch",
    r"je (?:plaisante|rigole|déconne|blague)|(?:c'est|c'était) (?:une blague|pour rire)|je te fais marcher",
    r"(?:es|era) (?:una |de )?broma|bromeo|bromeaba|bromeando|es coña|en broma",
    r"brincadeira|(?:tô|estou|estava|tava) (?:a )?(?:brincando|brincar|gozar|zoando)|brincando|zoeira|é piada",
    r"scherzo|scherzavo|(?:sto|stavo) scherzando|per scherzo",
    r"grapje|geintje|(?:was|is) een grap|grap hoor",
    r"żart|żarcik|żartuję|żartowa\pL+",
    unspaced=r"(?:^|\s)/s(?:$|[\s.!])|开玩笑|開玩笑|逗你|骗你的|冗談|うそです|嘘です|なんちゃって|أمزح|امزح|مزحة|نكتة",
)
NO_JOKE: Final = _words(
    r"(?:not|no|ain't|aren't|isn't) (?:kidding|joking|a joke|joke)|kidding aside|kein (?:scherz|witz)|sans blague"
    r"|sin broma|jokes? (?:about|that)"
)
IRONY: Final = _marker(
    r"^(?:oh|ah|yeah|sure),? [^.!?]{0,30}(?:just|simply) (?:love|adore|enjoy)|🙄|🙃"
    r"|^(?:yeah|yea|yes|oh|ja|klar|sure|right)[, ]+(?:(?:sure|right|yeah|totally|klar|genau)[, ]+)?(?:and|und) "
    r"(?:i'?m|i am|ich bin) (?:the |der |die )"
)

# Words around which nothing is denied, taken out before negation is looked for.
NOT_NEGATIVE: Final = _marker(
    r"not (?:only|just|to mention|bad|sure)|no (?:wonder|problem|worries|matter|idea|clue|joke|kidding|doubt)"
    r"|can(?:no|')?t wait|can't live without|why not|(?:don'?t|never|do not) forget|never looked back|nothing but"
    r"|nicht (?:nur|vergessen|schlecht)|vergiss nicht|kein(?:e)? (?:problem|scherz|witz|ahnung|wunder)"
    r"|n'oublie[sz]? pas|pas mal|pas de (?:souci|problème)|non seulement|no (?:olvides|sol[oó]|hay problema)"
    r"|não (?:só|esqueças?|te esqueças)|sem problemas?|non (?:solo|dimenticare)|nessun problema"
    r"|niet (?:alleen|vergeten)|vergeet niet|geen probleem|nie (?:tylko|zapomnij|zapominaj)"
    r"|不错|不过|不久|不仅|不但|差不多|对不起|不好意思|不同|没问题|没错|不少|别忘|不用说"
    r"|じゃないか|ではないか|少ない|間違いない|なければ|なくても|しかない|لا تنس\pL*|ليس فقط|لا بأس"
)
DENIED: Final = _words(
    r"not|no|never|none|nobody|nothing|neither|nor|without|cannot|\pL+n['’]t|cant|wont|dont|doesnt|didnt|isnt"
    r"|arent|wasnt"
    r"|havent|hasnt|hadnt|wouldnt|couldnt|aint|hardly|nope|zero|lacks?",
    r"nicht|kein\pL*|nie|niemals|nimmer|ohne|weder|niemand\pL*|nichts",
    r"ne|n['’]\pL+|pas|jamais|sans|aucune?|rien",
    r"nunca|jamás|sin|ni|tampoco|ningun[oa]?|ningún|nada",
    r"não|nao|sem|nem|nenhuma?",
    r"non|senza|né|nessun\pL*|mica|niente",
    r"niet|geen|nooit|zonder|niets|noch",
    r"nie|nigdy|bez|żad\pL+|ani",
    unspaced=r"不|没|沒|未|无|無い|ない|なかった|ません|ず、|(?:^| )(?:لا|ليس|ليست|لست|لم|لن|بدون|دون|بلا) ",
)
ENDED: Final = _words(
    r"no longer|used to|quit|quits|stopped|gave (?:\pL+ )?up|given up|anymore|any more|(?:i|we|he|she|they|just) left"
    r"|sold (?:my|our|the)|resigned|got rid of|ex|former(?:ly)?|previously|retired from|switched from"
    r"|moved from|dropped",
    r"nicht mehr|kein\pL* [^,.]{1,30} mehr|früher|aufgehört|abgeschafft|gekündigt|ehemalig\pL*|verkauft|nimmer",
    r"plus (?:de|chez|au|à)|arrêté\pL*|ancien(?:ne)?|autrefois|avant je",
    r"ya no|dejé|dejado|antes|solía|ex",
    r"já não|não .{1,20} mais|deixei|parei|antigamente|antes",
    r"non .{1,25} più|smesso|una volta|ex|lasciato",
    r"niet meer|geen .{1,20} meer|gestopt|vroeger|voormalig\pL*",
    r"już nie|przestał\pL*|rzuci\pL*|kiedyś|dawniej|były|była",
    unspaced=r"不再|以前|戒了|已经不|やめた|やめました|以前は|昔は|لم أعد|كنت ",
)
DISLIKED: Final = _words(
    r"clos(?:ed|es)|geschlossen|fermée?s?|cerrad[oa]s?|fechad[oa]s?|chius[oaie]|gesloten|zamknięt\pL*",
    r"hat(?:e|es|ed|ing)|loath\pL*|can(?:no|')?t stand|dislik\pL*|despis\pL*|avoid\pL*|allergic|allergy"
    r"|intoleran\pL*|skip|out"
    r"|gone|dead|instead|only|free|vegan|vegetarian|except|refus\pL*|sick|off|neither|against|ban(?:s|ned)?|forb\pL+",
    r"hass\pL*|allergi\pL*|meide\pL*|unverträglich\pL*|statt|nur|außer|vegan\pL*|vegetari\pL*|weg",
    r"déteste\pL*|allergi\pL*|évite\pL*|sauf|seulement|végé\pL*|végan\pL*",
    r"odi[oa]\pL*|alérgi\pL*|evit\pL*|salvo|excepto|sol[oó]|vegan\pL*|vegetarian\pL*|detest\pL*",
    r"odei\pL*|alérgi\pL*|detest\pL*|exceto|só|menos",
    r"odi[oa]\pL*|allergi\pL*|detest\pL*|tranne|solo|evit\pL*",
    r"haa?t\pL*|allergi\pL*|behalve|alleen|vermijd\pL*",
    r"nienawidz\pL*|alergi\pL*|unika\pL*|oprócz|tylko",
    unspaced=r"讨厌|過敏|过敏|只|除了|嫌い|苦手|アレルギー|だけ|以外|أكره|حساسية|فقط|أتجنب",
)
DISLIKED_STRONGLY: Final = _words(
    r"hat(?:e|es|ed|ing)|loath\pL*|can(?:no|')?t stand|dislik\pL*|despis\pL*|avoid\pL*|allergic|refus\pL*|sick of",
    r"hasse?|verabscheu\pL*|déteste\pL*|odio|odeio|detest\pL*|haat|nienawidz\pL*",
    unspaced=r"讨厌|嫌い|苦手|أكره",
)
# An aversion or a diet that somebody says not to have; what it is comes last.
NO_AVERSION: Final = _words(
    r"(?:not|never|cannot|\pL+n['’]?t|no longer) (?:\pL+ ){0,2}?(?:allergic|intolerant|hate|dislike|vegan|vegetarian)",
    r"(?:nicht|keine?) (?:\pL+ )?(?:allergi\pL*|vegan\pL*|vegetari\pL*)",
    r"pas (?:\pL+ )?(?:allergi\pL*|végé\pL*|végan\pL*)",
    r"no (?:soy|es|tengo) (?:\pL+ )?(?:alérgi\pL*|alergi\pL*|vegan\pL*|vegetarian\pL*)|não (?:sou|é) alérgi\pL*",
    r"non (?:sono|è) (?:allergi\pL*|vegan\pL*|vegetarian\pL*)|niet (?:allergisch|veganis\pL*|vegetari\pL*)",
)
# Changes that imply an end, so that a positive body may report them.
CHANGED_BODY: Final = _words(
    r"moved|switched|changed|became|left|lost|died|divorced|separated|single|widow\pL*|deaf|blind|sober"
    r"|restrict\pL*|unable"
    r"|excluded?|unemployed|retired|bald|rather than|over|less|blocks?|dairy-free|gluten-free|lactose-free"
    r"|pescatarian"
    r"|celiac|coeliac|fast(?:s|ing)|only|instead",
    r"gezogen|gewechselt|taub|blind|arbeitslos|ledig|geschieden|rentner\pL*",
    unspaced=r"素食|搬|转岗|改|禁酒|戒|換え|変え",
)

HEARSAY: Final = _words(
    r"apparently|i heard|rumou?r\pL*|people say|they say|everyone knows|between us|don'?t tell (?:anyone"
    r"|anybody)|gossip"
    r"|word is|i think|i suspect|supposedly|allegedly|did you (?:see|hear)|told me in confidence|secretly",
    r"angeblich|unter uns|psst|habe? gehört|soll (?:ja )?|man sagt|gerücht\pL*|ich glaub\pL*|anscheinend",
    r"il paraît|on dit|entre nous|je crois|apparemment|j'ai entendu",
    r"dicen|dizque|se rumorea|entre nosotros|creo que|he oído|parece que|al parecer",
    r"dizem|parece que|ouvi dizer|entre nós|acho que",
    r"dicono|si dice|pare che|ho sentito|tra noi|credo che",
    r"volgens mij|naar het schijnt|blijkbaar|ik hoorde|onder ons|schijnt|ze zeggen",
    r"podobno|ponoć|słyszał\pL*|mówią|chyba|między nami",
    unspaced=r"听说|據說|据说|好像|らしい|みたい|噂|يقولون|سمعت|يقال|على ما يبدو",
)
OUTSIDER: Final = _words(
    r"mayor|president|minister|politician|king|queen|pope|influencer|bürgermeister\pL*|maire|alcalde|prefeito|sindaco",
    r"neighbou?rs?|colleagues?|co-?workers?|boss|manager|landlord|landlady|teacher|professor|classmate|roommate"
    r"|flatmate"
    r"|celebrity|actor|actress|singer|ex|guy|lady|tenant|client|customer|intern|ceo|cfo|cto|coo|friend|cousin|mr|mrs|ms"
    r"|people next door",
    r"nachbar\pL*|kolleg\pL*|chef\pL*|vermieter\pL*|lehrer\pL*|mitbewohner\pL*|freund(?:es|e|in)?|frau \pL+"
    r"|herr\pL* \pL+",
    r"voisin\pL*|collègue|chef|patron\pL*|propriétaire|ami|amie|monsieur|madame|cousine?",
    r"vecin\pL*|compañer\pL*|jefe|jefa|colega|amig[oa]|primo|prima|señora?",
    r"vizinh\pL*|chefe|patrão|amig[oa]|primo|prima|senhora?",
    r"vicin\pL*|collega|capo|amic[oa]|cugin[oa]|signora?",
    r"buurman|buurvrouw|buren|collega|baas|vriend(?:in)?|neef|nicht|meneer|mevrouw",
    r"sąsiad\pL*|koleg\pL*|koleżank\pL*|szef\pL*|przyjaci\pL*|kuzyn\pL*|pan|pani",
    unspaced=r"邻居|同事|老板|上司|房东|朋友|明星|隣の|同僚|大家さん|友達|友人|جار|زميل|مدير|صديق",
)
FAMILY: Final = _words(
    r"wife|husband|partner|spouse|fianc\pL+|girlfriend|boyfriend|son|sons|daughters?|kids?|child|children|baby"
    r"|mother|father"
    r"|mum|mom|mama|dad|papa|parents?|brothers?|sisters?|siblings?|grand\pL+|granny|gran|aunt|uncle|niece"
    r"|nephew|in-laws?"
    r"|family|household|dogs?|cats?|pets?|twins?",
    r"ehefrau|ehemann|mann|sohn|söhne|tochter|töchter|kind\pL*|mutter|vater|bruder|schwester|geschwister|oma"
    r"|opa|eltern"
    r"|groß\pL+|tante|onkel|familie|hund\pL*|katze\pL*|partner\pL*",
    r"femme|mari|fils|fille|enfants?|mère|père|frère|sœur|soeur|parents|compagn\pL+|chien|chat",
    r"espos[oa]|marido|mujer|hij[oa]s?|madre|padre|herman[oa]s?|abuel[oa]|pareja|novi[oa]|perr[oa]|gat[oa]",
    r"filh[oa]s?|mãe|pai|irmãos?|irmãs?|avó|avô|namorad[oa]|cachorr[oa]|cão",
    r"moglie|marito|figli[oa]?|madre|padre|fratello|sorella|nonn[oa]|compagn[oa]|cane|gatto|mamma|papà",
    r"vrouw|man|zoon|dochter|kinderen|moeder|vader|broer|zus|ouders|hond|kat|partner",
    r"żona|mąż|syn|córk\pL+|matk\pL+|mama|ojciec|tata|brat|siostr\pL+|dziec\pL+|pies|kot|babcia|dziadek",
    unspaced=r"妻|老婆|丈夫|老公|儿子|女儿|孩子|妈|爸|父|母|兄|弟|姐|妹|夫|息子|娘|姉|زوج|ابن|بنت|أم|أب|أخ",
)
PRIVATE: Final = _words(
    r"(?:cannot|can'?t|can not|could not) (?:cook|sing|drive|write|spell|code|count|dance|read|park|add)|lazy|stupid"
    r"|annoying|incompetent|useless|rude|arrogant|snor(?:es|ing)|smells?|stinks?|faul|dumm|nervt|paresseu\pL*|vag[oa]",
    r"brib\pL*|corrupt\pL*|bestech\pL*|korrupt\pL*|corromp\pL*",
    r"drinks?|drunk\pL*|alcohol\pL*|gambl\pL*|debts?|bankrupt\pL*|owes?|divorc\pL*|affairs?|cheat\pL*"
    r"|pregnan\pL*|gay|lesbian"
    r"|bisexual|transgender|depress\pL*|addict\pL*|rehab|arrest\pL*|jail\pL*|prison|convict\pL*|crim\pL*|fired"
    r"|sacked|laid off"
    r"|salary|earns|cancer|hiv|ill|sick|therapy|suicid\pL*|abus\pL*|broke up|dating|lover|boyfriend|girlfriend"
    r"|stole|steals"
    r"|lied|lies|drugs|cocaine|bipolar|miscarriage|infertil\pL*|sleeps with|sleeping with",
    r"trinkt|säuft|alkohol\pL*|betrunken|schulden|pleite|scheid\pL*|geschieden|affäre|betrüg\pL*|schwanger\pL*|schwul"
    r"|lesbisch|depress\pL*|süchtig|verhaftet|gefängnis|gefeuert|entlassen|krebs|krank\pL*|freund|geliebte\pL*"
    r"|gehalt",
    r"divorc\pL*|enceinte|dettes?|trompe\pL*|alcool\pL*|viré\pL*|licenci\pL*|prison|dépress\pL*|dépriv\pL*"
    r"|malade|amante?|salaire",
    r"divorci\pL*|embarazad\pL*|deudas?|engañ\pL*|despid\pL*|despedid\pL*|cárcel|alcohól\pL*|deprimid\pL*|depresión"
    r"|borrach\pL*|enferm\pL*|amante|sueldo",
    r"divórci\pL*|divorci\pL*|grávida|dívidas?|tra[iu]\pL*|pres[oa]|demitid\pL*|despedid\pL*|alcoóla?\pL*"
    r"|bêbad\pL*|doente|amante",
    r"divorzi\pL*|incinta|debiti|tradi\pL*|licenziat\pL*|galera|prigione|alcol\pL*|depress\pL*|ubriac\pL*"
    r"|malat\pL*|amante|arrestat\pL*",
    r"scheid\pL*|gescheiden|zwanger|schuld\pL*|vreemd\pL*|ontslagen|gevang\pL*|verslaafd|dronken|depress\pL*"
    r"|ziek|drinkt|minna\pL+",
    r"rozwód|rozwodz\pL*|rozwied\pL*|ciąż\pL*|dług\pL*|zdradz\pL*|zwolnion\pL*|więzieni\pL*|pije|pijan\pL*"
    r"|depresj\pL*|chor[yae]|kochan\pL*",
    unspaced=r"离婚|離婚|怀孕|欠|债|出轨|坐牢|被捕|抑郁|酗酒|解雇|开除|妊娠|借金|不倫|逮捕|うつ|طلاق|طلق|حامل|ديون|يخون|سجن|مدمن|اكتئاب",
)

# The member takes back what she has just said.
TAKEN_BACK: Final = _words(
    r"forget (?:i|we|that|this|it|what|about (?:that|this|it))|scratch that|strike that|ignore (?:that|this|what i)"
    r"|(?:don'?t|do not|pls don'?t|never|please don'?t|and not) (?:remember|save|store|record|note|memori[sz]e"
    r"|log|keep (?:that|this"
    r"|it|a))(?: that| this| it| any\pL*| down| of)*|off the record|not for (?:your|the) (?:memory|records?)"
    r"|(?:delete|erase|remove|wipe|drop) (?:that|this|it)|keep (?:this|that|it) (?:out|off)",
    r"vergiss (?:das|es|bitte|was|dies)|merk(?:e)? dir (?:das|es|dies) (?:bitte )?nicht|nicht (?:merken"
    r"|speichern|notieren)"
    r"|(?:speicher|speichere|notier|notiere) (?:das|es) (?:bitte )?nicht|lösch(?:e)? (?:das|es)",
    r"oublie[zs]? (?:ça|cela|ce que|tout ça)|n(?:e |')(?:le |la |les |l')?(?:note|retiens|retenez|garde"
    r"|enregistre|mémorise)[sz]? pas"
    r"|efface[sz]? (?:ça|cela)",
    r"olvida (?:eso|esto|lo)|olvídalo|no (?:lo |la |los |las )?(?:guardes|recuerdes|anotes|apuntes|memorices"
    r"|registres)|borra (?:eso|esto)",
    r"esque[cç][ea] (?:isso|isto|o que)|não (?:o |a )?(?:guardes?|anotes?|memorizes?|regist[er]\pL*|salves?)"
    r"|apagu?[ae] (?:isso|isto)",
    r"dimenticalo|dimentica (?:questo|quello|ciò|che)|non (?:memorizzar\pL*|salvar\pL*|ricordar\pL*|annotar\pL*"
    r"|segnar\pL*)"
    r"|cancella(?:lo|la)?(?: questo)?",
    r"vergeet (?:dat|dit|het)|niet (?:onthouden|opslaan|bewaren|noteren)|onthoud (?:dat|dit|het) niet"
    r"|wis (?:dat|dit)",
    r"zapomnij o tym|zapomnij to|nie (?:zapisuj|zapamiętuj|notuj)\pL*|usuń to|wykasuj to",
    unspaced=r"别记|不要记|忘掉|忘了(?:这|吧)|别存|别保存|不要保存|不要存|覚えないで|忘れてください|忘れてね|忘れて[。.!]?$|記録しないで"
    r"|保存しないで|メモしないで|انس(?:ى)? (?:هذا|ذلك|ما)|انسَ|لا تحفظ|لا تتذكر|لا تسجل|احذف هذا",
)
# The member names what is to be forgotten: "forget my old job".
NAMED_BACK: Final = _words(
    r"(?:forget|ignore|delete|erase|drop|disregard)(?: about)? (?:my|the|our|everything about|anything about"
    r"|all about)",
    r"(?:vergiss|lösch|lösche) (?:mein|meine|meinen|die|den|das|alles über)",
    r"oublie[zs]? (?:mon|ma|mes|le|la|les)",
    r"olvida (?:mi|mis|el|la|lo de)",
    r"esque[cç][ea] (?:o|a|meu|minha)|não guardes nada",
    r"dimentica (?:il|la|mio|mia)",
    r"vergeet (?:mijn|de)",
    r"zapomnij o (?:moim|mojej|moich)",
)
ANNOUNCED_BACK: Final = _words(
    r"off the record|between us|not for (?:your|the) (?:memory|records?)|(?:don'?t|do not) (?:save|store"
    r"|remember|note) (?:this|what)",
    r"unter uns|(?:das )?(?:bitte )?nicht (?:merken|speichern)",
    r"entre nous",
    r"entre nosotros",
    r"entre nós",
    r"tra noi",
    r"onder ons",
    r"między nami",
)

QUESTION_START: Final = _words(
    r"what(?:'?s)?|how(?:'?s)?|why|where|who|whose|which|any (?:idea|ideas|tips?|chance)"
    r"|(?:is|are|am|was|were|do|does|did|can|could|would|will|should|shall|has|have) (?:i|you|we|they|he"
    r"|she|it|there|the"
    r"|this|that|these|my|our|your|a|an|any)|when (?:do|does|did|is|are|should|can)",
    r"wie|warum|wieso|wo|wer|welche\pL*|wann|was (?:ist|sind|kostet|kann|soll|mache?|heißt|bedeutet|wäre|ich)"
    r"|(?:kann|kannst|könnte\pL*|soll|sollte|darf|ist|gibt|hast|braucht|muss) (?:ich|du|man|es|das|der|die|ein\pL*)",
    r"quel\pL*|combien|comment|pourquoi|où|qui|est-ce|qu'est-ce|peux-tu|pouvez-vous|c'est quoi",
    r"qué|cuánt\pL*|cómo|por qué|dónde|quién|cuál\pL*|puedes",
    r"quanto|quanta|onde|quem|qual|quais|por que|podes|como (?:se|posso|faço|é|está)",
    r"quant[oiae]|perché|dove|chi|quale|quali|puoi|cosa|come (?:si|posso|faccio|è|mai)",
    r"wat|hoe|waarom|waar|wie|welke|wanneer|(?:kun|kan|moet|is) (?:je|ik|het|een|de)",
    r"ile|jak|dlaczego|gdzie|kto|jaki\pL*|czy|możesz",
)
POSSESSIVE: Final = _words(
    r"my|our|mein\pL*|unser\pL*|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?|meus?|minhas?|mio|mia|miei|nostr[oa]"
    r"|mijn|onze|ons"
    r"|mój|moja|moje|mojego|mojej|nasz\pL*",
    unspaced=r"我的|我家|我们的|私の|うちの",
)
FIRST_PERSON: Final = _words(
    r"i|i'm|im|i've|ive|we|we're|we've|ich|wir|je|j'\pL+|nous|yo|soy|tengo|vivo|estoy|eu|sou|tenho|moro|io|sono"
    r"|ho|ik|we|jestem"
    r"|mam|mieszkam",
    unspaced=r"我|私|أنا|عندي|أسكن|أعيش|أعمل",
)

# Most sentences hold one of these, or they are asked about only when another was found.
_COMMON: Final = (FIRST_PERSON, POSSESSIVE, FAMILY, QUESTION_START, OPEN_BODY, PRIVATE, UNREAL)
UNCOMMON: Final = frozenset(_MARKERS) - {*_COMMON}
# Found in a text just when one of those is: most sentences hold none of them.
ANY_UNCOMMON: Final = either(*UNCOMMON)
