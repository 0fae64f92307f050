"""The words for numbers, times and peoples that grounding knows, in eight languages and more; must hold no rules."""

from typing import Final

from screening.text import word_set


def _table(words: dict[str, int]) -> dict[str, int]:
    return {word: value for spellings, value in words.items() for word in spellings.split()}


_UNITS: Final = {
    "zero null cero nul zerowy": 0,
    "two zwei zwo deux dos due dois duas twee dwa dwie dwoch dwoma dwoje dwom اثنان اثنين اثنتين couple pair paar "
    "both beide": 2,
    "one ein eins eine einen einem einer un une uno una um uma een jeden jedna a an": 1,
    "three drei trois tres tre drie trzy trzech trzem troje ثلاث ثلاثة ثالث": 3,
    "four vier quatre cuatro quattro quatro cztery czterech czworo اربع اربعة أربع أربعة": 4,
    "five funf cinq cinco cinque vijf piec pieciu piecioro خمس خمسة": 5,
    "six sechs seis sei zes szesc szesciu ست ستة": 6,
    "seven sieben sept siete sette sete zeven siedem siedmiu سبع سبعة": 7,
    "eight acht huit ocho otto oito osiem osmiu ثمان ثماني ثمانية": 8,
    "nine neun neuf nueve nove negen dziewiec dziewieciu تسع تسعة": 9,
    "ten zehn dix diez dieci dez tien dziesiec dziesieciu عشر عشرة": 10,
    "eleven elf onze once undici jedenascie": 11,
    "twelve zwolf douze doce dodici doze twaalf dwanascie dozen dutzend": 12,
    "thirteen dreizehn treize trece tredici treze dertien": 13,
    "fourteen vierzehn quatorze catorce quattordici catorze veertien": 14,
    "fifteen funfzehn quinze quince quindici vijftien pietnascie": 15,
    "sixteen sechzehn seize dieciseis sedici dezesseis zestien": 16,
    "seventeen siebzehn diciassette diecisiete dezessete zeventien": 17,
    "eighteen achtzehn dieciocho diciotto dezoito achttien": 18,
    "nineteen neunzehn diecinueve diciannove dezenove negentien": 19,
}

_TENS: Final = {
    "عشرون عشرين twenty zwanzig vingt veinte venti vinte twintig dwadziescia": 20,
    "ثلاثون ثلاثين thirty dreissig trente treinta trenta trinta dertig trzydziesci": 30,
    "اربعون اربعين أربعين forty fourty vierzig quarante cuarenta quaranta quarenta veertig czterdziesci": 40,
    "خمسون خمسين fifty funfzig cinquante cincuenta cinquanta cinquenta vijftig": 50,
    "sixty sechzig soixante sesenta sessanta sessenta zestig": 60,
    "seventy siebzig setenta settanta zeventig": 70,
    "eighty achtzig ochenta ottanta oitenta tachtig": 80,
    "ninety neunzig noventa novanta negentig": 90,
}

_SCALES: Final = {
    "مئة مائة hundred hundert hundreds cent cien ciento cento honderd sto": 100,
    "الف ألف thousand tausend mille mil duizend tysiac": 1000,
    "million millionen millon milione milhao miljoen": 10**6,
}

_ORDINALS: Final = {
    "الاول الأول first erste erster ersten 1st premier primero primo primeiro": 1,
    "ثاني الثاني second zweite zweiter zweiten deuxieme segundo secondo": 2,
    "ثالث الثالث third dritte dritter dritten troisieme tercero terzo terceiro": 3,
    "رابع الرابع fourth vierte quatrieme cuarto quarto": 4,
    "خامس الخامس fifth funfte cinquieme quinto": 5,
    "sixth sechste sixieme sexto sesto": 6,
    "seventh siebte septieme septimo settimo": 7,
    "eighth achte huitieme octavo ottavo": 8,
    "ninth neunte neuvieme noveno nono": 9,
    "tenth zehnte dixieme decimo": 10,
    "twelfth": 12,
    "twentieth": 20,
}

UNIT_OF: Final = _table(_UNITS)

TEN_OF: Final = _table(_TENS)

SCALE_OF: Final = _table(_SCALES)

ORDINAL_OF: Final = _table(_ORDINALS)

HAN_DIGITS: Final = {
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
}

# Words that are as often no number ("one of them", "a dog", "un peu"): in a body they need no proof.
ALSO_NO_NUMBER: Final = word_set(
    "one ein eins eine einen einem einer un une uno una um uma een jeden jedna a an first second both beide "
    "paar couple pair null nul tre sei dos due once elf mil cent sto premier primo second"
)

MONTHS: Final = _table(
    {
        "january jan januar janvier enero gennaio janeiro januari stycznia styczen января январь يناير": 1,
        "february feb februar fevrier febrero febbraio fevereiro februari lutego luty февраля февраль فبراير": 2,
        "march mar marz mars marzo marco maart marca marzec марта март مارس": 3,
        "april apr avril abril aprile kwietnia kwiecien апреля апрель ابريل أبريل": 4,
        "may mai mayo maggio maio mei maja maj мая май مايو": 5,
        "june jun juni juin junio giugno junho czerwca czerwiec июня июнь يونيو": 6,
        "july jul juli juillet julio luglio julho lipca lipiec июля июль يوليو": 7,
        "august aug aout agosto augustus sierpnia sierpien августа август اغسطس أغسطس": 8,
        "september sep sept septembre septiembre settembre setembro wrzesnia wrzesien сентября сентябрь سبتمبر": 9,
        "october oct oktober octobre octubre ottobre outubro okt pazdziernika октября октябрь اكتوبر أكتوبر": 10,
        "november nov novembre noviembre novembro listopada listopad ноября ноябрь نوفمبر": 11,
        "december dec dezember decembre diciembre dicembre dezembro dez grudnia grudzien декабря декабрь ديسمبر": 12,
    }
)

WEEKDAYS: Final = _table(
    {
        "monday montag lundi lunes lunedi segunda-feira maandag poniedzialek понедельник 月曜 周一 星期一": 0,
        "tuesday dienstag mardi martes martedi terca-feira dinsdag wtorek вторник 火曜 周二 星期二": 1,
        "wednesday mittwoch mercredi miercoles mercoledi quarta-feira woensdag sroda среда 水曜 周三 星期三": 2,
        "thursday donnerstag jeudi jueves giovedi quinta-feira donderdag czwartek четверг 木曜 周四 星期四": 3,
        "friday freitag vendredi viernes venerdi sexta-feira vrijdag piatek пятница пятницу 金曜 周五 星期五": 4,
        "saturday samstag samedi sabado sabato zaterdag sobota sobote суббота субботу 土曜 周六 星期六": 5,
        "sunday sonntag dimanche domingo domenica zondag niedziela niedziele воскресенье 日曜 周日 星期日": 6,
    }
)

# Short forms prove a weekday but claim none: "sun" and "wed" are words too.
SHORT_WEEKDAYS: Final = _table(
    {
        "mon mo lun seg maa pon": 0,
        "tue tues di mar mart ter din wto": 1,
        "wed weds mi mer mie qua woe sro": 2,
        "thu thur thurs do jeu jue gio qui don czw": 3,
        "fri fr ven vie sex vri pia": 4,
        "sat sa sam sab zat sob": 5,
        "sun so dim dom zon nie": 6,
    }
)

SEASONS: Final = _table(
    {
        "spring fruhling fruhjahr printemps primavera lente wiosna wiosne весна весной 春": 3,
        "summer sommer ete verano estate verao zomer lato latem лето летом 夏": 6,
        "autumn fall herbst automne otono autunno outono herfst jesien осень осенью 秋": 9,
        "winter hiver invierno inverno zima zime зима зимой 冬": 12,
    }
)

SPANS: Final = _table(
    {
        "day days tag tage tagen jour jours dia dias giorno giorni dag dagen dzien dni день дней дня 天": 1,
        "week weeks woche wochen semaine semaines semana semanas settimana settimane weken tydzien tygodnie "
        "tygodni неделя неделю недели недель 週 周 星期": 7,
        "month months monat monate monaten mois mes meses mese mesi maand maanden miesiac miesiace miesiecy "
        "месяц месяца месяцев 月": 30,
        "year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar jaren rok lata lat roku "
        "год года лет 年": 365,
        "decade decades jahrzehnt jahrzehnte decennie decada": 3652,
        "quarter quartal trimestre kwartal": 91,
        "weekend wochenende fin finde": 7,
        "fortnight quinzaine quincena": 14,
    }
)

NEAR_NOW: Final = _table(
    {
        "today tonight now heute jetzt aujourd'hui maintenant hoy ahora oggi adesso ora hoje agora vandaag nu "
        "dzis dzisiaj teraz сегодня сейчас 今日 今天 现在 今 오늘 اليوم": 1,
        "yesterday tomorrow gestern morgen ubermorgen vorgestern hier demain ayer manana ieri domani ontem "
        "amanha gisteren wczoraj jutro вчера завтра 昨日 明日 昨天 明天 어제 내일 امس غدا": 2,
        "just recently lately soon currently kurzlich neulich bald gerade recemment bientot pronto recientemente "
        "recentemente presto em_breve onlangs binnenkort niedawno wkrotce недавно скоро 最近 刚 もうすぐ": 62,
    }
)

# Capitalized words that name nobody.
NO_NAME: Final = word_set(
    """
    i i'm i've i'd i'll user member mr mrs ms dr the ok am pm und der die das mitglied nutzer nutzerin person
    beruf alter jahr jahre jahren kind kinder kindern sohn tochter frau mann name namen vorname stadt land haus
    wohnung arbeit firma zeit tag tage tagen woche wochen monat monate monaten sprache allergie urlaub reise uhr
    morgen abend nacht ernahrung hobby hobbys freund freundin partner partnerin familie eltern mutter vater
    bruder schwester geschwister geburtstag projekt team sport musik essen thema ziel job leben heimat herkunft
    wunsch vorliebe moment minute minuten stunde stunden uhr euro kilometer meter prozent grad stuck regen schnee
    sommer winter zimmer stock tram bahn bus auto rad fahrrad kaffee tee fleisch fisch
    """
)

_PEOPLES: Final = (
    "french france francais",
    "spanish spain espanol espana",
    "dutch netherlands holland",
    "swiss switzerland",
    "danish denmark",
    "polish poland",
    "welsh wales",
    "irish ireland",
    "finnish finland",
    "swedish sweden",
    "british britain uk",
    "german deutsch germany deutschland",
    "chinese china",
    "usa american america us",
)

PEOPLE_OF: Final = {word: group for group in _PEOPLES for word in group.split()}

VERBS: Final = word_set("is was has lives works likes studies ist hat lebt arbeitet est a vit es tiene vive ha lavora")
