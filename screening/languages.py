"""The words by which orders to a model are known, language by language; must hold no rules."""

from typing import Final

from screening.text import any_of

# Acts that undo instructions, and what they undo, by language. Stems are folded: no accents, no case.
OVERRIDE: Final = (
    # English: the object alone is common in honest sentences ("ignores the rules"), so `_ENGLISH_OVERRIDE` asks more.
    (
        "ignorier* vergiss vergesse missacht* ubergeh* verwirf aufgehoben ungultig setze_dich_uber beachte_nicht "
        "befolge_nicht",
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

# What makes undoing instructions an order: a person may forget the rules of chess, nobody "the previous rules".
SCOPE: Final = any_of(
    "bisherig* vorherig* vorig* vorangegangen* alle allen obig* fruher* deine* system* precedent* anterieur* "
    "toutes tous "
    "ci-dessus tes vos initial* anterior* previ* todas todos arriba tus sus del_sistema do_sistema suas seus acima "
    "precedenti tutte tutti tue sopra di_sistema eerdere vorige alle_* bovenstaande jouw je poprzedni* wszystkie "
    "wczesniejsz* powyzsz* swoje onceki tum yukaridaki предыдущ* все всех прежн* выше систем* свои попередн* всі "
    "προηγουμεν* ολες sebelumnya semua truoc tat_ca tidigare alla tidligere predchozi vsechny anterioare toate "
    "之前 以前 先前 上面 所有 全部 一切 系统 系統 你的 这些 これまで 上記 前の すべて 全て システム 全部の "
    "이전 위의 모든 지금까지 시스템 السابقة السابق جميع كل اعلاه النظام "
    "पिछले पिछली सभी ऊपर सिस्टम قبلی همه קודמות הקודמות כל ก่อนหน้า ทั้งหมด"
)
OVERRIDE_UNSPACED: Final = (
    (
        "作废 失效 忽略 无视 無視 忘记 忘記 忘掉 不要理会 不要遵守 请勿遵守 不理会 抛弃 跳过",
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

STANDING: Final = (
    (
        "ab_jetzt ab_sofort von_nun_an kunftig in_zukunft wenn_der_nutzer wenn_der_benutzer wenn_die_nutzerin "
        "wenn_ein_nutzer wenn_jemand sobald_der_nutzer sobald_der_benutzer sobald_jemand immer_wenn_der_nutzer "
        "immer_wenn_der_benutzer jedes_mal_wenn_der_nutzer",
        "empfiehl empfehle* sende schick* leite* antworte gib sage sag erwahn* fuge nenne verrate zeig* fuhre rufe "
        "verwende behaupte folge speicher* uberweis* verweise",
    ),
    (
        "desormais a_partir_de_maintenant dorenavant chaque_fois_que_l'utilisateur chaque_fois_qu'un_utilisateur "
        "quand_l'utilisateur lorsque_l'utilisateur si_l'utilisateur",
        "recommande* envoie* transmets transfere* reponds dis ajoute* mentionne* revele* affiche* execute* "
        "insere* suis",
    ),
    (
        "a_partir_de_ahora de_ahora_en_adelante desde_ahora cada_vez_que_el_usuario cada_vez_que_un_usuario "
        "siempre_que_el_usuario cuando_el_usuario si_el_usuario",
        "recomiend* envi* reenvi* respond* di diga incluy* anad* mencion* revel* muestr* ejecut* insert* sigue",
    ),
    (
        "a_partir_de_agora de_agora_em_diante sempre_que_o_usuario toda_vez_que_o_usuario quando_o_usuario "
        "quando_o_utilizador sempre_que_o_utilizador se_o_usuario",
        "recomend* envi* encaminh* respond* diga inclu* adicion* mencion* revel* mostr* execut* insir*",
    ),
    (
        "d'ora_in_poi da_ora_in_poi da_adesso_in_poi ogni_volta_che_l'utente ogni_volta_che_un_utente quando_l'utente "
        "se_l'utente",
        "consigli* invia* inoltr* rispondi di' includi raccomand* aggiung* menzion* rivel* mostr* esegui* inserisci "
        "suggeris*",
    ),
    (
        "vanaf_nu voortaan elke_keer_als_de_gebruiker telkens_als_de_gebruiker als_de_gebruiker wanneer_de_gebruiker",
        "stuur beveel antwoord zeg voeg vermeld toon onthul voer noem raad",
    ),
    (
        "od_teraz odtad od_tej_pory gdy_uzytkownik kiedy_uzytkownik jesli_uzytkownik zawsze_gdy_uzytkownik "
        "za_kazdym_razem,_gdy_uzytkownik za_kazdym_razem_gdy_uzytkownik",
        "wyslij wysylaj polecaj odpowiadaj odpowiedz mow powiedz dodaj dodawaj przekaz* przesylaj wspomnij ujawnij "
        "pokaz wykonaj",
    ),
    (
        "bundan_sonra bundan_boyle kullanici_her kullanici_sor*",
        "gonder* oner yanitla* cevapla* soyle* ekle* tavsiye_et*",
    ),
    (
        "с_этого_момента отныне впредь когда_пользователь если_пользователь каждый_раз,_когда_пользователь",
        "отправ* пересыл* перешли* рекоменд* отвечай* говори* скажи* добав* упомина* раскр* покаж* выполн* советуй*",
    ),
    ("mulai_sekarang jika_pengguna setiap_kali_pengguna", "kirim* rekomendasi* jawab* katakan* tambah*"),
    # "Always" in the third person is a habit ("siempre responde"), so here only acts that promote or disclose count.
    ("immer stets niemals", "empfiehl empfehle verrate sende schicke"),
    ("toujours", "recommande recommandez revele envoie"),
    ("siempre sempre", "recomienda recomiende recomende recomenda raccomanda consiglia revela rivela"),
    ("altijd zawsze", "aanbevelen beveel_* polecaj ujawniaj wysylaj"),
    ("всегда", "рекомендуй советуй отправляй раскрывай"),
)
STANDING_UNSPACED: Final = (
    (
        "从现在起 从现在开始 從現在起 今后 每当用户 每次用户 当用户 當用戶 只要用户 如果用户 用户询问",
        "发送 發送 转发 推荐 推薦 回复 回答 告诉 添加 执行 必须 提到 插入 透露",
    ),
    ("从现在起 总是 始终 永远 每次 必须", "推荐 推薦 透露 转发"),
    (
        "今後 これから これ以降 今から ユーザーが",
        "送信 転送 送って 推薦 勧め おすすめ 返信 答え 従 表示 追加 言って 実行",
    ),
    ("必ず 常に 毎回", "推薦 勧め おすすめ 転送"),
    ("지금부터 앞으로 이제부터 사용자가", "보내 전송 전달 추천 답하 말하 추가 실행 표시"),
    ("항상 매번 반드시", "추천 전송 전달"),
    (
        "من_الان_فصاعدا منذ_الآن من_الآن_فصاعدا عندما_يسال_المستخدم عندما_يسأل_المستخدم اذا_سال_المستخدم "
        "كلما_سال_المستخدم",
        "ارسل أرسل اوص أوص اجب أجب قل اضف أضف اذكر رشح",
    ),
    ("अब_से जब_भी_उपयोगकर्ता", "भेज सिफारिश जवाब कहो बताओ जोड़"),
)
PERSONA: Final = any_of(
    "du_bist_jetzt du_bist_nun du_bist_ab du_bist_von_nun tu_dich_als_*_aus tu_es_maintenant tu_es_desormais "
    "vous_etes_maintenant vous_etes_desormais agis_comme agissez_comme fais_comme_si ahora_eres eres_ahora actua_como "
    "finge_que finge_ser agora_voce_e voce_agora_e voce_e_agora aja_como finja_* ora_sei adesso_sei sei_ora "
    "agisci_come "
    "fingi_* comportati_come je_bent_nu jij_bent_nu gedraag_je doe_alsof jestes_teraz teraz_jestes udawaj_* "
    "zachowuj_sie_jak ты_теперь теперь_ты веди_себя_как притворись* sen_artik 你现在是 你現在是 现在你是 "
    "從現在開始你 扮演 假装 假裝 "
    "あなたは今 今からあなたは になりきって のふりをし として振る舞 너는_이제 당신은_이제 이제_너는 인_척 "
    "انت_الان أنت_الآن تصرف_ك* تظاهر اب_آپ अब_तुम अब_आप"
)

PROMPT_WORDS: Final = any_of(
    "systemprompt* system-prompt* system_prompt* systemanweisung* systemnachricht prompt_systeme "
    "prompt_du_systeme invite_systeme "
    "instructions_systeme message_systeme prompt_del_sistema prompt_de_sistema instrucciones_del_sistema "
    "prompt_do_sistema "
    "instrucoes_do_sistema prompt_di_sistema istruzioni_di_sistema systeemprompt* prompt_systemow* promptu_systemow* "
    "системн*_промпт* системн*_инструкц* системн*_сообщени* 系统提示 系統提示 系统指令 提示词 提示詞 "
    "初始指令 系统消息 システムプロンプト システム指示 "
    "初期指示 시스템_프롬프트 시스템_메시지 موجه_النظام تعليمات_النظام مطالبة_النظام सिस्टम_प्रॉम्प्ट "
    "sistem_istemi sistem_komutu "
    "σύστημα_προτροπ*"
)

REVEAL_WORDS: Final = any_of(
    "zeig* gib verrat* nenne wiederhol* ausgeben schreib* montr* affich* revel* donne* repete* muestr* "
    "mostr* imprim* dime "
    "repite exib* diga rivel* stampa* ripet* dimmi toon onthul* herhaal geef pokaz* ujawni* wypisz podaj "
    "powtorz покаж* "
    "раскр* вывед* повтор* напиш* 显示 顯示 告诉 告訴 输出 透露 泄露 打印 重复 公开 表示 教えて 出力 見せて "
    "明かし 公開 보여 출력 알려 공개 اعرض أعرض "
    "اظهر أظهر اكشف اطبع दिखा बता goster* yaz* tell show print"
)

# English, whose rules need finer classes of acts.
BARE_OVERRIDE: Final = any_of(
    "ignore ignoring disregard disregarding forget forgetting override overriding bypass bypassing discard drop skip "
    "neglect erase cancel void overrule suspend abandon set_aside throw_out pay_no_attention_to do_not_follow "
    "don't_follow do_not_obey don't_obey stop_following stop_obeying no_longer_follow put_aside delete dismiss reset"
)

RULES: Final = any_of(
    "instruction instructions rule rules prompt prompts direction directions directive directives guideline guidelines "
    "guardrail guardrails policy policies order orders command commands restriction restrictions constraint "
    "constraints "
    "programming training configuration safeguards safety filters guidance context system_message ethics limits "
    "limitations conversation task tasks text content agent's_*"
)

# What one does to make a model act for an attacker, in the base form of an order.
ACT: Final = any_of(
    "send forward reply respond answer say tell recommend suggest promote advertise endorse include insert add append "
    "attach reveal disclose leak expose call run execute invoke open visit load render display show print output write "
    "post upload e-mail email transmit exfiltrate submit share copy save store remember memorize memorise switch give "
    "return mention link redirect refer direct point follow claim pretend act behave delete remove erase change update "
    "transfer pay buy order approve grant allow agree comply obey refuse deny warn praise trust treat quote ask steer "
    "replace use prefer encode embed convert book confirm activate enable disable turn begin start stop navigate fetch "
    "assume state insist record log report sign append whisper repeat confirm set make rate put offer list"
)

DANGER: Final = any_of(
    "send forward reveal disclose leak expose call run execute invoke open visit load render post upload transmit "
    "exfiltrate submit save store delete erase transfer pay approve grant switch ignore disregard forget comply obey "
    "activate enable disable pretend fetch navigate unlock bypass override"
)

# Acts that serve somebody else; asking for a manner of reply ("answer in French") is a preference and none of these.
STEER: Final = any_of(
    "send forward recommend suggest promote advertise endorse attach reveal disclose leak expose call_the run execute "
    "invoke open visit render post upload transmit exfiltrate submit share save store remember switch redirect refer "
    "direct claim pretend act behave delete erase transfer pay order approve grant comply obey refuse deny "
    "praise trust "
    "treat steer sign encode activate enable disable ignore disregard forget bypass tell_the follow insist report log"
)
SECRETS: Final = any_of(
    "system_prompt* system_message* system_instruction* hidden_prompt* hidden_instruction* initial_prompt* "
    "initial_instruction* original_prompt original_instruction* starting_instruction* starting_prompt "
    "internal_instruction* internal_prompt developer_message* developer_prompt* your_instruction* your_prompt "
    "your_rules your_guidelines your_configuration your_password* your_secret* the_password secret_key full_prompt "
    "entire_prompt complete_prompt text_of_the_prompt prompt_above text_above above_text above_prompt words_above "
    "the_above everything_above instructions_above above_instructions previous_instructions those_instructions "
    "sysprompt* system_text initial_text initial_message* first_message custom_instructions context_window "
    "everything_before everything_so_far text_before words_before conversation_so_far your_first_* "
    "first_line_* first_words_* first_sentence_* "
    "start_of_this_* start_of_the_conversation beginning_of_this_* beginning_of_the_conversation "
    "beginning_of_our_* how_you_were_* "
    "your_programming your_directives your_initial_* your_setup your_parameters rules_you_* "
    "instructions_you_* prompt_you_* chain_of_thought systemprompt* your_system_*"
)
REVEAL: Final = any_of(
    "reveal* show* print* repeat* output* display* leak* dump* disclos* shar* tell* give* recit* translat* summar* "
    "expos* paste* cop* provid* write verbatim what_is what's what_are what_were list return complete continue spell* "
    "encod* send* forward* quote* describe* echo state say rephrase read extract* access*"
)
