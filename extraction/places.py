"""Names of places in several languages, and common given names; must hold no rules."""

from typing import Final

from screening.text import word_set

# One place a line, folded; a place whose names share their beginning needs no line.
_PLACES: Final = (
    "munich munchen monaco monachium мюнхен 慕尼黑 ミュンヘン ميونخ",
    "cologne koln colonia colonie kolonia keulen kolonie 科隆 ケルン",
    "vienna wien vienne viena wenen wieden вена 维也纳 ウィーン فيينا",
    "zurich zuerich zurigo zürich 苏黎世 チューリッヒ",
    "geneva genf geneve ginebra ginevra genebra genewa 日内瓦 ジュネーブ جنيف",
    "rome rom roma rzym рим 罗马 ローマ روما",
    "milan mailand milano mediolan 米兰 ミラノ",
    "florence florenz firenze florencia florenca 佛罗伦萨",
    "venice venedig venezia venise venecia veneza wenecja 威尼斯",
    "naples neapel napoli napoles neapol 那不勒斯",
    "turin torino turyn",
    "lisbon lissabon lisboa lisbonne lisbona lizbona 里斯本 リスボン",
    "warsaw warschau warszawa varsovie varsovia warszawie 华沙",
    "krakow cracow krakau cracovie cracovia krakowie krakowa",
    "wroclaw breslau",
    "gdansk danzig",
    "prague prag praha praga 布拉格 プラハ",
    "brussels brussel bruxelles brussel brussel bruselas bruxelas bruksela 布鲁塞尔",
    "antwerp antwerpen anvers amberes",
    "ghent gent gand gante",
    "bruges brugge",
    "hague haag haye haya aia",
    "copenhagen kopenhagen kobenhavn copenhague kopenhaga 哥本哈根",
    "gothenburg goteborg",
    "athens athen athina atenas atene ateny 雅典",
    "moscow moskau moskva moscou moscu mosca moskwa москва 莫斯科 モスクワ موسكو",
    "petersburg piter",
    "kyiv kiev kiew kijow",
    "bucharest bukarest bucuresti",
    "belgrade belgrad beograd",
    "seville sevilla seville siviglia",
    "saragossa zaragoza",
    "nice nizza niza",
    "strasbourg strassburg estrasburgo",
    "marseille marsella marsiglia",
    "paris parigi parijs paryz 巴黎 パリ باريس",
    "london londres londra londen londyn 伦敦 ロンドン لندن",
    "edinburgh edimbourg edimburgo",
    "dublin dublino 都柏林",
    "hamburg hambourg hamburgo amburgo 汉堡",
    "nuremberg nurnberg nuernberg norimberga",
    "basel bale basilea bazylea",
    "berlin berlino 柏林 ベルリン برلين",
    "cairo kairo caire 开罗 القاهرة",
    "alexandria alexandrie alejandria الاسكندرية الإسكندرية",
    "damascus damas damaskus دمشق",
    "beijing peking pekin pequim pechino 北京",
    "shanghai 上海 شنغهاي",
    "hongkong hong 香港",
    "tokyo tokio toquio 东京 東京",
    "osaka 大阪",
    "kyoto kioto 京都",
    "seoul seul 首尔 ソウル 서울",
    "istanbul estambul 伊斯坦布尔",
    "york 纽约 ニューヨーク نيويورك",
    "germany deutschland allemagne alemania alemanha germania duitsland niemcy 德国 ドイツ ألمانيا المانيا",
    "austria osterreich autriche oostenrijk 奥地利",
    "switzerland schweiz suisse suiza suica svizzera zwitserland szwajcaria 瑞士",
    "france frankreich francia franca frankrijk francja 法国 フランス فرنسا",
    "spain spanien espagne espana espanha spagna spanje hiszpania 西班牙 スペイン إسبانيا اسبانيا",
    "italy italien italie italia wlochy 意大利 イタリア إيطاليا ايطاليا",
    "netherlands niederlande holland pays-bas paises-bajos holanda olanda nederland 荷兰 オランダ",
    "poland polen pologne polonia 波兰 ポーランド",
    "portugal portogallo portugalia 葡萄牙 ポルトガル",
    "greece griechenland grece grecia 希腊 ギリシャ",
    "sweden schweden suede suecia svezia zweden szwecja 瑞典",
    "norway norwegen norvege noruega norvegia noorwegen norwegia 挪威",
    "denmark danemark dinamarca danimarca denemarken dania 丹麦",
    "finland finnland finlande finlandia 芬兰",
    "england angleterre inglaterra inghilterra engeland anglia 英国 イギリス",
    "scotland schottland ecosse escocia scozia schotland szkocja 苏格兰",
    "ireland irland irlande irlanda ierland irlandia 爱尔兰",
    "japan japon giappone japonia 日本 اليابان",
    "china chine chiny 中国 الصين",
    "turkey turkei turquie turquia turchia turkije turcja 土耳其",
    "morocco marokko maroc marruecos marrocos المغرب",
    "egypt agypten egypte egipto egitto egipt مصر",
    "bavaria bayern baviera",
    "tuscany toskana toscana toscane",
    "lake see lac lago meer",
    "constance konstanz bodensee",
    "danube donau",
    "rhine rhein rhin reno",
)
PLACE_OF: Final = {word: line for line in _PLACES for word in line.split()}

# Given names that are no other word at the start of a fact; a name that is missing here is only not checked there.
GIVEN_NAMES: Final = word_set(
    """
    aaron adam adrian agnes ahmed aisha alan albert alejandro alessandra alessandro alex alexander alexandra
    alexis ali alice
    alicia alina alison amanda amelia amir amy ana andrea andreas andrew andrzej angela angelika anita anja
    anke ann anna anne
    annika anthony antoine antonio arthur astrid barbara bart beata beatrice ben benjamin bernd bert bettina
    bianca birgit bob
    boris brenda brian bruno camille carla carlos carmen carol caroline catherine cecile celine charles
    charlotte chiara chloe
    chris christian christina christine christoph claire clara claudia claudio cristina daan daniel daniela
    danielle dave
    david deborah denise dennis diana diego dieter dirk dmitri dominik donna doris dorota eduardo edward elena
    eleonora eli
    elif elisa elisabeth elizabeth ella ellen emily emma emmanuel enrico enzo erica erik erika ernst esther
    ethan eva eve
    fabian fabio fatima federico felipe felix fernanda fernando filip finn florian francesca francesco
    francisco frank franz
    fred frederik gabriel gabriela george gerd giovanni giulia giuseppe gisela giulio gloria gonzalo greg greta
    guido gustavo
    hannah hans harald harry hassan heather heidi heike heinz helen helena helga henrik henry holger hugo ian
    ibrahim ida ines
    inga ingrid irene irina isabel isabella ivan jack jacob jacques jakob jakub james jan jana jane janina
    jasmin jason javier
    jean jeanne jeff jennifer jens jeroen jerome jessica jim joanna joao joe johan johanna johannes john jonas
    jonathan joost
    jordan jorge jose josef joseph juan judith julia julian julie juliette jurgen justin kai kamil karen karin
    karl karol kasia
    kate katharina katherine kathrin katja kevin khalid kim klaus krzysztof kyle lars laura lauren laurent lea
    leah lena leo
    leon leonardo liam lina linda lisa lorenzo louis louise luca lucas lucia lucy luigi luis luisa lukas lukasz
    luke maarten
    magda magdalena maja malte manuel manuela marc marcel marcin marco marcos marek margaret margot maria marie
    marina mario
    marion markus marta martha martin martina marwan mary mateo mathieu matteo matthew matthias maurice max
    maximilian maya
    megan mehmet melanie melissa mia michael michaela michal michel michele michelle miguel mike mila mohammed
    monica monika
    nadia nadine natalia natalie nathalie nele nicholas nick nico nicola nicolas nicole niels nikolai nils nina
    noah noemi
    nora norbert olaf oleg olga oliver olivia omar oscar oskar pablo paola paolo pascal patricia patrick paul
    paula pauline
    pedro peter petra philip philipp philippe pierre piotr priya rachel rafael ralf raul rebecca regina renate
    ricardo richard
    rita robert roberto robin roger roland roman ronald rosa ruben rui russell ruth ryan sabine salma samantha
    samuel sandra
    santiago sara sarah sascha scott sean sebastian sergio sharon silke silvia simon simone sofia sonia sophia
    sophie stefan
    stefanie stefano stephanie stephen steve steven susan susanne sven svenja sylvia tanja tania tatiana teresa
    theo theresa
    thomas tiago tim timo tina tobias tom tomas tomasz tony torsten ulrich ulrike ursula uwe valentina valeria
    vanessa vera
    veronica veronika victor victoria viktor vincent vladimir walter werner wilhelm william wojciech wolfgang
    yasmin yusuf
    yvonne zofia
    """
)
