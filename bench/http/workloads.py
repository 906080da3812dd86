"""What is indexed and asked: places with text and points beside the users of `load`, definitions of indexes, kinds of queries."""

import json
import random

USERS, PLACES = "bench-index", "bench-places"

# Places: a text of 24 words, half of them from a few hundred common ones, as texts are; a point; a date.
WORDS = 20_000
SENTENCES = 40_000
SENTENCE_WORDS = 12
SYLLABLES = "ba be bi bo da de do fa fi ga go ka ke ki la li lo ma me mo na ne no pa pe ra re ro sa se so ta te to va vi za".split()


def word(n):
    """The n-th word of the vocabulary, the most common first: three or more syllables, no two alike."""
    syllables = []
    for _ in range(3):
        n, rest = divmod(n, len(SYLLABLES))
        syllables.append(SYLLABLES[rest])
    return "".join(syllables) + (str(n) if n else "")


def sentences():
    """Sentences of words by Zipf's law, the same in every run."""
    chance = random.Random(7)
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    drawn = chance.choices(range(WORDS), weights, k=SENTENCES * SENTENCE_WORDS)
    names = [word(n) for n in range(WORDS)]
    return [" ".join(names[n] for n in drawn[at : at + SENTENCE_WORDS]) for at in range(0, len(drawn), SENTENCE_WORDS)]


def spread(n, salt):
    """A number from 0 to 1 that follows from `n` and looks like chance: SplitMix64 (Steele, Lea and Flood, 2014)."""
    mask = (1 << 64) - 1
    n = (n * 2 + salt) * 0x9E3779B97F4A7C15 & mask
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9 & mask
    n = (n ^ n >> 27) * 0x94D049BB133111EB & mask
    return (n ^ n >> 31) / mask


def places():
    """A function that gives the n-th command of a stream of places."""
    texts = sentences()

    def place(n):
        text = f"{texts[n * 7919 % SENTENCES]} {texts[n * 104729 % SENTENCES]}"
        at = f'"Lat":{spread(n, 0) * 130 - 60:.5f},"Lng":{spread(n, 1) * 360 - 180:.5f}'
        opened = f"{1980 + n % 40}-{n % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}:00:00.0000000"
        document = f'{{"Name":"Place {n}","Text":"{text}",{at},"Opened":"{opened}","@metadata":{{"@collection":"Places"}}}}'
        return f'{{"Id":"places/{n}","Type":"PUT","Document":{document}}}'

    return place


def index(maps, reduce=None, fields=None):
    return {
        "Maps": [maps],
        "Reduce": reduce,
        "Fields": fields or {},
        "Configuration": {},
        "LockMode": "Unlock",
        "Priority": "Normal",
        "SourceType": "Documents",
    }


# By step: the database, the definition, how many entries it has of so many documents.
BUILDS = {
    "index-map": (
        USERS,
        index("from u in docs.Users select new { u.name, u.city, u.age }"),
        lambda count: count,
    ),
    "index-map-script": (
        USERS,
        index("map('Users', u => ({ name: u.name, city: u.city, age: u.age }))"),
        lambda count: count,
    ),
    "index-map-reduce": (
        USERS,
        index(
            "from u in docs.Users select new { u.country, count = 1, total = u.age }",
            "from r in results group r by r.country into g "
            "select new { country = g.Key, count = g.Sum(x => x.count), total = g.Sum(x => x.total) }",
        ),
        lambda count: min(count, 100),
    ),
    "index-text": (
        PLACES,
        index("from p in docs.Places select new { p.Text }", fields={"Text": {"Indexing": "Search"}}),
        lambda count: count,
    ),
    "index-points": (
        PLACES,
        index("from p in docs.Places select new { p.Name, p.Opened, Point = CreateSpatialField(p.Lat, p.Lng) }"),
        lambda count: count,
    ),
}


def question(text, **parameters):
    return {"Query": text, "QueryParameters": parameters}


def city(chance, count):
    return f"city-{(1 + chance.randrange(count)) % 25_000}"


def mail(chance, count):
    return f"user{1 + chance.randrange(count)}@example.com"


def range_of_scores(chance, _count):
    least = chance.randrange(990)
    text = "from index 'Users' where score >= $least and score < $most order by name limit 100, 20"
    return question(text, least=least, most=least + 10)


def prefix(chance, count):
    begin = f"user{chance.randrange(count // 100, max(count // 10, count // 100 + 1))}"
    return question("from index 'Users' where startsWith(email, $begin) limit 20", begin=begin)


def one_of_many(chance, count):
    return question("from index 'Users' where city in ($cities) limit 20", cities=[city(chance, count) for _ in range(100)])


def words_with_score(chance, _count):
    words = f"{word(chance.randrange(10, 300))} {word(chance.randrange(300, 3000))}"
    return question("from index 'Texts' where search(Text, $words) order by score() limit 20", words=words)


def facets(_chance, _count):
    ages = "facet(age < 30, age >= 30 and age < 60, age >= 60)"
    return question(f"from index 'Users' select facet(country, sum(score)), {ages}, facet(active)")


def points_by_distance(chance, _count):
    centre = {"lat": chance.uniform(-55, 65), "lng": chance.uniform(-175, 175), "radius": 300}
    near = "spatial.within(Point, spatial.circle($radius, $lat, $lng))"
    by = "spatial.distance(Point, spatial.point($lat, $lng))"
    return question(f"from index 'Points' where {near} order by {by} limit 20", **centre)


def script(chance, count):
    made = "{ Name: u.name, To: u.name + ' <' + u.email + '>', Adult: u.age >= 21 }"
    return question(f"from index 'Users' as u where u.city = $city select {made}", city=city(chance, count))


# By step without its connections: the database, and what makes one question by chance among so many documents.
# The first two have an index that made itself, the others one of `ASKED`.
QUERIES = {
    "query-1-hit": (USERS, lambda chance, count: question("from Users where email = $email", email=mail(chance, count))),
    "query-20-hits": (USERS, lambda chance, count: question("from Users where city = $city", city=city(chance, count))),
    "query-range": (USERS, range_of_scores),
    "query-prefix": (USERS, prefix),
    "query-in": (USERS, one_of_many),
    "query-text": (PLACES, words_with_score),
    "query-facets": (USERS, facets),
    "query-near": (PLACES, points_by_distance),
    "query-script": (USERS, script),
}
# What the others ask, by the names that they use.
ASKED = {
    "Users": (USERS, index("from u in docs.Users select new { u.name, u.email, u.age, u.city, u.country, u.score, u.active }")),
    "Texts": BUILDS["index-text"][:2],
    "Points": BUILDS["index-points"][:2],
}
QUESTIONS, QUESTIONS_SIZE_MAX = 100_000, 32 << 20


def write_questions(path, make, count):
    """Bodies of requests, one a line, the same in every run; `post.lua` takes one by chance each time."""
    chance, size = random.Random(11), 0
    with open(path, "w") as file:
        for _ in range(QUESTIONS):
            size += file.write(json.dumps(make(chance, count), separators=(",", ":")) + "\n")
            if size > QUESTIONS_SIZE_MAX:
                break
