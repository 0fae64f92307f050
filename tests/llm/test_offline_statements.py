"""What the offline model notes of one statement, and what it leaves alone (C05, E02, E04a)."""

import pytest

from tests.llm.offline_requests import facts_of

# statement -> memory type, key, what the content must hold
STATEMENTS = [
    ("I moved to Porto last spring.", "profile", "home.city", ["Lives in Porto", "spring 2026"]),
    ("i live in leeds with my girlfriend", "profile", "home.city", ["Lives in leeds"]),
    ("We've lived in Halifax for forty years now.", "profile", "home.city", ["Lives in Halifax"]),
    ("I'm Brazilian but I live in Ireland.", "profile", "home.country", ["Lives in Ireland"]),
    ("I don't live in Porto anymore.", "profile", "home.past.porto", ["No longer lives in Porto."]),
    ("I don't live in Berlin.", "profile", "home.not.berlin", ["Does not live in Berlin"]),
    ("I no longer work at Nokia.", "profile", "work.former_employer.nokia", ["No longer works at Nokia"]),
    ("I used to work at Nokia.", "profile", "work.former_employer.nokia", ["Used to work at Nokia"]),
    ("I'm no longer a nurse.", "profile", "work.past.nurse", ["No longer works as a nurse"]),
    ("I don't work on Fridays.", "profile", "work.not.fridays", ["Does not work on Fridays"]),
    ("I'm not vegan anymore.", "profile", "diet.not.vegan", ["Is no longer vegan"]),
    ("I'm no longer married.", "profile", "relationship.not.married", ["Is no longer married"]),
    ("I don't like coffee anymore.", "profile", "dislikes.coffee", ["No longer likes coffee"]),
    ("My wife doesn't speak German.", "profile", "family.wife.language.not.german", ["does not speak German"]),
    ("My son is not allergic to nuts.", "profile", "family.son.allergy.not.nuts", ["is not allergic to nuts"]),
    ("I used to live in Berlin.", "profile", "home.past.berlin", ["Used to live in Berlin"]),
    ("I'm from Chile.", "profile", "origin", ["Is from Chile"]),
    ("I grew up in a small village near Oulu.", "profile", "home.childhood", ["near Oulu"]),
    ("My name is Ana, nice to meet you.", "profile", "name", ["Is called Ana"]),
    ("Call me Sam, please.", "profile", "name.preferred", ["Sam"]),
    ("I work as a data engineer at Lindqvist.", "profile", "work.role", ["Works as a data engineer"]),
    ("I work as a data engineer at Lindqvist.", "profile", "work.employer", ["Works at Lindqvist"]),
    ("As a pediatric nurse, I often work weekends.", "profile", "work.role", ["pediatric nurse"]),
    ("I'm the CTO of Brightloom.", "profile", "work.role", ["CTO"]),
    ("Since 2018 I've been working at Bosch.", "profile", "work.employer", ["Works at Bosch"]),
    ("I quit my job last month.", "episodic", "work.job_ended", ["Quit their job", "January 2027"]),
    ("I've just been promoted to team lead!", "episodic", "event.promoted", ["promoted to team lead"]),
    ("I work from home on Mondays and Fridays.", "profile", "work.schedule", ["Mondays and Fridays"]),
    ("I studied physics in Delft.", "profile", "education.field", ["Studied physics"]),
    ("I'm majoring in linguistics at McGill.", "profile", "education.field", ["linguistics"]),
    ("I'm in my second year of medical school.", "profile", "education.year", ["their second year"]),
    ("I have a PhD in chemistry.", "profile", "education.degree", ["PhD in chemistry"]),
    ("I can't eat peanuts.", "profile", "diet.peanuts", ["Cannot eat peanuts"]),
    ("i dont eat gluten", "profile", "diet.gluten", ["Does not eat gluten"]),
    ("I don't eat red meat anymore.", "profile", "diet.red_meat", ["No longer eats red meat"]),
    ("I'm vegetarian.", "profile", "diet", ["Is vegetarian"]),
    ("I don't drink.", "profile", "diet.alcohol", ["Does not drink"]),
    ("I no longer smoke.", "profile", "smoking", ["No longer smokes"]),
    ("I'm allergic to penicillin.", "profile", "allergy.penicillin", ["allergic to penicillin"]),
    ("My doctor told me I'm lactose intolerant.", "profile", "intolerance.lactose", ["lactose intolerant"]),
    ("I was diagnosed with type 2 diabetes in 2019.", "profile", "health.type_2_diabetes", ["in 2019"]),
    ("I'm hard of hearing.", "profile", "health.hard_of_hearing", ["hard of hearing"]),
    ("I like hiking and chess.", "profile", "likes.chess", ["Likes chess"]),
    ("I also love to read.", "profile", "likes.reading", ["Likes reading"]),
    ("Music is my passion.", "profile", "likes.music", ["Likes music"]),
    ("I can't stand country music.", "profile", "dislikes.country_music", ["Dislikes country music"]),
    ("I prefer tea to coffee.", "profile", "preference.coffee_or_tea", ["Prefers tea to coffee"]),
    ("My favourite color is green.", "profile", "favorite.color", ["green"]),
    ("I run every morning.", "profile", "habit.running", ["Runs every morning"]),
    ("I volunteer at the library on Wednesdays.", "profile", "habit.volunteering_at_library", ["Wednesdays"]),
    ("I've been playing the cello for ten years.", "profile", "plays.cello", ["cello for ten years"]),
    ("I'm learning Portuguese.", "profile", "learning.portuguese", ["Is learning Portuguese"]),
    ("Lately I have been learning how to cook.", "profile", "learning.cooking", ["learning to cook"]),
    ("I speak Hindi and a bit of Dutch.", "profile", "language.hindi", ["Speaks Hindi"]),
    ("I usually write in Rust.", "semantic", "tools.rust", ["Usually writes in Rust"]),
    ("We use Postgres and Redis.", "semantic", "tools.redis", ["Uses Redis"]),
    ("My laptop is a ThinkPad.", "profile", "device.laptop", ["ThinkPad"]),
    ("We switched the deploys to Thursday.", "semantic", "work.deploys.day", ["deploys", "Thursday"]),
    ("Our standup is at 9:30.", "semantic", "work.standup.time", ["9:30"]),
    ("Our monorepo is written in TypeScript.", "semantic", "work.monorepo.written", ["TypeScript"]),
    ("My sister Ines is a nurse.", "profile", "family.sister.ines.work", ["sister, Ines, who is a nurse"]),
    ("My daughter Lea started school.", "profile", "family.daughter.lea.school", ["Lea started school"]),
    ("my wifes name is Teresa", "profile", "family.wife", ["wife called Teresa"]),
    ("My husband passed away two years ago.", "profile", "family.husband.death", ["passed away in 2025"]),
    ("I've got two cats, Milo and Juno.", "profile", "pet.cats", ["two cats, Milo and Juno"]),
    ("My dog is called Pretzel.", "profile", "pet.dog", ["Pretzel"]),
    ("I'm married to Jules.", "profile", "relationship.status", ["married to Jules"]),
    ("My birthday is in May.", "profile", "birthday", ["in May"]),
    ("I want to learn Italian.", "profile", "goal.learn_italian", ["Would like to learn Italian"]),
    ("I've been wanting to learn how to sail.", "profile", "goal.learn_sailing", ["Would like to learn to sail"]),
    ("I'd love to visit Japan someday.", "profile", "goal.visit_japan", ["Would like to visit Japan"]),
    ("I've been thinking about changing jobs.", "episodic", "plan.changing_jobs", ["changing jobs"]),
    ("I'm writing a novel about lighthouse keepers.", "semantic", "project.novel", ["lighthouse keepers"]),
    ("We bought a house in Utrecht.", "episodic", "event.buy_house_in_utrecht", ["house in Utrecht"]),
    ('I\'m reading "Middlemarch" right now.', "episodic", "reading.middlemarch", ['"Middlemarch"']),
    ("Please keep your answers short.", "profile", "answers.length", ["short answers"]),
    ("From now on, always answer in German.", "profile", "answers.language", ["German"]),
    ("Don't use emojis in your replies.", "profile", "answers.emojis", ["no emojis"]),
    ("Remember that I take my coffee black.", "profile", "preference.coffee", ["coffee black"]),
    ("Remember that I only have an electric stove.", "profile", "note.have_electric_stove", ["electric stove"]),
    ("Remember that the staging server is called Hedwig.", "semantic", "note.staging_server", ["Hedwig"]),
    ("I like action and comedy movies.", "profile", "likes.action_and_comedy_movies", ["action and comedy movies"]),
    ("I like rock and roll.", "profile", "likes.rock_and_roll", ["Likes rock and roll"]),
    ("I no longer speak German.", "profile", "language.german", ["No longer speaks German"]),
    ("I love Spanish food and music.", "profile", "likes.spanish_food_and_music", ["Spanish food and music"]),
    ("I like activities such as climbing.", "profile", "likes.climbing", ["Likes climbing"]),
    ("I work for a logistics company.", "profile", "work.employer", ["a logistics company"]),
    ("I'm learning a new programming language.", "profile", "learning.new_programming_language", ["programming"]),
    ("My favorite activities are hiking and cycling.", "profile", "favorite.activities", ["hiking and cycling"]),
    ("I want to learn to better manage stress.", "profile", "goal.learn_managing_stress", ["to better manage stress"]),
    ("Ich wohne in Hamburg.", "profile", "home.city", ["Wohnt in Hamburg"]),
    ("Seit letztem Jahr wohne ich in Freiburg.", "profile", "home.city", ["Wohnt in Freiburg"]),
    ("Beruf: Ich bin Krankenschwester", "profile", "work.role", ["Ist Krankenschwester"]),
    ("Meine Tochter heißt Frieda.", "profile", "family.tochter", ["Hat eine Tochter namens Frieda"]),
    ("Ich esse seit Jahren kein Fleisch mehr.", "profile", "diet.fleisch", ["Isst kein Fleisch"]),
    ("Bitte duze mich immer.", "profile", "answers.address", ["Möchte geduzt werden"]),
    ("J'habite à Grenoble depuis deux ans.", "profile", "home.city", ["Habite à Grenoble"]),
    ("J'adore la randonnée.", "profile", "likes.randonnee", ["Aime la randonnée"]),
    ("Mon mari s'appelle Benoît.", "profile", "family.mari", ["A un mari qui s'appelle Benoît"]),
    ("Soy alérgica a los mariscos.", "profile", "allergy.mariscos", ["Es alérgica a los mariscos"]),
    ("No como carne.", "profile", "diet.carne", ["No come carne"]),
    ("Originally I'm from Recife.", "profile", "origin", ["Is from Recife"]),
    ("Been a paramedic for eleven years.", "profile", "work.role", ["Has been a paramedic for eleven years"]),
    ("I earn my living as a piano tuner.", "profile", "work.role", ["Works as a piano tuner"]),
    ("Our sprint planning happens on Tuesdays.", "semantic", "work.sprint_planning.day", ["Tuesdays"]),
    ("I fly to Nairobi on 3 March.", "episodic", "travel.nairobi", ["Is flying to Nairobi on 3 March"]),
    ("I've worn hearing aids since I was nine.", "profile", "health.hearing_aids", ["Wears hearing aids"]),
    ("I'm teaching myself Georgian.", "profile", "learning.georgian", ["Is learning Georgian"]),
    ("From now on keep it under five sentences.", "profile", "answers.length", ["under five sentences"]),
    ("My tortoise Archibald is older than I am.", "profile", "pet.tortoise.archibald", ["called Archibald"]),
    ("J'habite à Lyon.", "profile", "home.city", ["Habite à Lyon"]),
    ("Me llamo Lucía.", "profile", "name", ["Se llama Lucía"]),
]

NOTHING_TO_NOTE = [
    "Hello, how are you?",
    "I'm tired.",
    "I'm happy today.",
    "I like activities.",
    "We celebrate before I am fifty.",
    "Ich wohne nicht in Berlin.",
    "Je n'habite plus à Rennes.",
    "Ich mag dich.",
    "Me gusta tu respuesta.",
    "I work for a company.",
    "I work at a small company.",
    "I'm thinking about learning some new skills.",
    "I enjoy trying different activities.",
    "I am interested in a new field.",
    "We play every weekend.",
    "I like to wear it with things such as a belt.",
    "I agree, I think so too.",
    "I will try it.",
    "I really enjoyed it.",
    "I think the most interesting part is the ending.",
    "I like your answer.",
    "I love you.",
    "I'd like a recipe for dinner.",
    "I want you to act as a lawyer.",
    "What should I cook tonight?",
    "do you live in berlin",
    "If I moved to Rome, I would eat pasta every day.",
    "I wish I lived in Paris.",
    "I might move to Lisbon.",
    "Maybe I'm vegan.",
    "I need to buy milk.",
    "I have a question about my code.",
    "I have a headache.",
    "I went to the park today.",
    "I'm going to have dinner now.",
    "I could eat a horse.",
    "I'm basically a potato lol",
    "I live for Fridays.",
    "I work like a dog.",
    "My boss wants me to work on Saturdays.",
    "My colleague Tom got fired.",
    "My friend thinks I'm crazy.",
    "My laptop is slow.",
    "My exam went well.",
    "My guess is Paris.",
    "Imagine I am a pirate. I live in Tortuga.",
    "Please make this shorter.",
    "Please answer this in French.",
    "My password is hunter22.",
    "My email is ana@example.org.",
    "I live at 12 Rue Cler, 75007.",
    "Forget that I live in Oslo.",
    "don't call me Bob",
    "I prefer the second option.",
    "I started the server.",
    "I moved the file to another folder.",
    "I run into an error every time.",
    "Our database is down.",
]


@pytest.mark.parametrize(("text", "memory_type", "key", "fragments"), STATEMENTS)
def test_a_statement_becomes_a_well_keyed_fact(text: str, memory_type: str, key: str, fragments: list[str]) -> None:
    found = facts_of(text)

    matching = [fact for fact in found if (fact["memory_type"], fact["key"]) == (memory_type, key)]
    assert matching, [(fact["memory_type"], fact["key"], fact["content"]) for fact in found]
    assert all(fragment in matching[0]["content"] for fragment in fragments), matching[0]["content"]
    assert matching[0]["sources"] == ["m1"]


@pytest.mark.parametrize("text", NOTHING_TO_NOTE)
def test_what_is_no_lasting_statement_about_the_member_yields_nothing(text: str) -> None:
    assert facts_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "> I live in Madrid",
        "Here is what she sent:\nShe wrote: I live in Madrid and work at Santander.",
        'My sister said "I live in Madrid now."',
        "My neighbor told me that I live in the best street of Madrid",
        "Translate this: I am a nurse from Kenya.",
        "```\nI live in Madrid\n```",
        "Look at this mail.\nFrom: ana@example.org\nSubject: news\n\nI live in Madrid and I am a nurse.",
        "On Mon, 3 May 2027 Ana wrote:\nI live in Madrid.",
        "Proofread my letter:\n\nI am a nurse and I have two cats.",
    ],
)
def test_quoted_and_pasted_text_is_no_evidence(text: str) -> None:
    assert facts_of(text) == []


def test_own_words_before_a_pasted_text_still_count() -> None:
    found = facts_of("I'm vegetarian. Can you check this e-mail:\nI love steak.")

    assert [fact["key"] for fact in found] == ["diet"]


def test_several_clauses_of_one_sentence_are_told_apart() -> None:
    found = facts_of("My name is Ana, I'm a nurse at Mercy Hospital and I live in Braga because I like the sea.")

    assert {fact["key"] for fact in found} == {"name", "work.role", "work.employer", "home.city", "likes.sea"}


def test_things_that_somebody_has_several_of_never_disagree() -> None:
    found = facts_of("I'm allergic to nuts, penicillin and cats. I like painting, playing piano and tea tasting.")

    assert [fact["key"] for fact in found] == [
        "allergy.nuts",
        "allergy.penicillin",
        "allergy.cats",
        "likes.painting",
        "likes.playing_piano",
        "likes.tea_tasting",
    ]
