//! Places and shapes against a plain look at every document, while documents come, change and go.
//!
//! Points are compared with circles, rectangles and stars; rectangles with rectangles, their sides on one coarse grid, so that they
//! often touch. What lies so near to a border that the plain look may be wrong itself is left out.

use crate::simulated::{options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use rookery_query::definition::{AutomaticIndex, IndexDefinition};
use rookery_query::execute::{self, FoundEntries};
use rookery_query::index::{Batch, Error, Index};
use rookery_query::indexing::Indexer;
use rookery_query::plan::{Find, IndexChoice, IndexQuery, Page, Parameters, Plan};
use rookery_query::rql;
use std::collections::{BTreeMap, BTreeSet};
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

/// Degrees by which what is looked at plainly may be wrong near a border, and sines near the other side of the earth.
const DOUBT: f64 = 1e-5;

/// Kilometres of a degree of a great circle.
const DEGREE_KM: f64 = 6371.0087714 * std::f64::consts::PI / 180.0;

/// A document: a latitude and a longitude, and a rectangle.
#[derive(Clone, Copy, Debug)]
struct Us {
    at: Option<(f64, f64)>,
    area: Option<Area>,
}

/// First and last longitude, of which the first is the greater where it goes over the date line; least and greatest latitude.
#[derive(Clone, Copy, Debug)]
struct Area {
    west: f64,
    east: f64,
    south: f64,
    north: f64,
}

type Model = BTreeMap<String, Us>;

fn position(random: &mut Random) -> (f64, f64) {
    let fine = |random: &mut Random, count: u64| random.below(count * 1000) as f64 / 1000.0;
    match random.below(6) {
        // Near each other, near the date line, near a pole, and on the grid of areas.
        0 => (50.0 + fine(random, 3), 10.0 + fine(random, 3)),
        1 => {
            (fine(random, 20) - 10.0, if random.chance(2) { 180.0 - fine(random, 3) } else { fine(random, 3) - 180.0 })
        }
        2 => (90.0 - fine(random, 4), fine(random, 360) - 180.0),
        3 => (random.below(7) as f64 * 10.0 - 30.0, random.below(37) as f64 * 10.0 - 180.0),
        _ => (fine(random, 180) - 90.0, fine(random, 360) - 180.0),
    }
}

impl Area {
    fn random(random: &mut Random) -> Area {
        let south = random.below(9) as f64 * 10.0 - 40.0;
        let west = random.below(36) as f64 * 10.0 - 180.0;
        let east = west + random.below(9) as f64 * 10.0;
        let east = if east > 180.0 { east - 360.0 } else { east };
        Area { west, east, south, north: south + random.below(4) as f64 * 10.0 }
    }

    fn text(&self) -> String {
        format!("ENVELOPE({}, {}, {}, {})", self.west, self.east, self.north, self.south)
    }

    /// Its longitudes as one interval, moved by whole turns.
    fn turns(&self) -> [(f64, f64); 3] {
        let east = if self.east < self.west { self.east + 360.0 } else { self.east };
        [-360.0, 0.0, 360.0].map(|turn| (self.west + turn, east + turn))
    }

    fn own(&self) -> (f64, f64) {
        self.turns()[1]
    }

    fn meets(&self, other: &Area) -> bool {
        let (west, east) = self.own();
        self.south <= other.north
            && other.south <= self.north
            && other.turns().into_iter().any(|(first, last)| west <= last && first <= east)
    }

    fn is_in(&self, other: &Area) -> bool {
        let (west, east) = self.own();
        other.south <= self.south
            && self.north <= other.north
            && other.turns().into_iter().any(|(first, last)| first <= west && east <= last)
    }
}

/// What points are looked for in.
enum Asked {
    Circle {
        at: (f64, f64),
        km: f64,
    },
    Area(Area),
    /// Corners by latitude and longitude, which do not go over the date line.
    Star(Vec<(f64, f64)>),
}

impl Asked {
    fn random(random: &mut Random) -> Asked {
        match random.below(3) {
            0 => {
                let sizes = [1.0, 30.0, 500.0, 5_000.0, 15_000.0];
                Asked::Circle {
                    at: position(random),
                    km: *random.of(&sizes) * (1.0 + random.below(100) as f64 / 100.0),
                }
            }
            1 => Asked::Area(Area::random(random)),
            _ => {
                let (lat, lng) = (random.below(80) as f64 - 40.0, random.below(200) as f64 - 100.0);
                let count = 3 + random.below(20);
                let corner = |random: &mut Random, number: u64| {
                    let angle = number as f64 / count as f64 * std::f64::consts::TAU;
                    let length = 1.0 + random.below(4000) as f64 / 100.0;
                    (lat + length * angle.sin(), lng + length * angle.cos())
                };
                Asked::Star((0..count).map(|number| corner(random, number)).collect())
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Asked::Circle { at: (lat, lng), km } => format!("spatial.circle({km}, {lat}, {lng})"),
            Asked::Area(area) => format!("spatial.wkt('{}')", area.text()),
            Asked::Star(corners) => {
                let corner = |(lat, lng): &(f64, f64)| format!("{lng} {lat}");
                let ring: Vec<String> = corners.iter().chain(corners.first()).map(corner).collect();
                format!("spatial.wkt('POLYGON(({}))')", ring.join(", "))
            }
        }
    }

    /// Whether it has a point; `None`: it is too near to the border to tell.
    fn has(&self, (lat, lng): (f64, f64)) -> Option<bool> {
        match self {
            Asked::Circle { at, km } => {
                let apart = angle(*at, (lat, lng)) * DEGREE_KM;
                ((apart - km).abs() > 1e-3).then_some(apart <= *km)
            }
            Asked::Area(area) => Some(Area { west: lng, east: lng, south: lat, north: lat }.is_in(area)),
            Asked::Star(corners) => {
                let mut turned = 0.0;
                for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                    let angle = |(y, x): &(f64, f64)| (y - lat).atan2(x - lng);
                    let length = |(y, x): &(f64, f64)| (y - lat).hypot(x - lng);
                    let side = (from.0 - to.0).hypot(from.1 - to.1);
                    if length(from) + length(to) - side < DOUBT {
                        return None;
                    }
                    let turn = angle(to) - angle(from);
                    turned += turn - (turn / std::f64::consts::TAU).round() * std::f64::consts::TAU;
                }
                Some(turned.abs() > 1.0)
            }
        }
    }
}

/// Degrees between two positions, from the vectors to them.
fn angle(one: (f64, f64), other: (f64, f64)) -> f64 {
    let vector = |(lat, lng): (f64, f64)| {
        let (lat, lng) = (lat.to_radians(), lng.to_radians());
        [lat.cos() * lng.cos(), lat.cos() * lng.sin(), lat.sin()]
    };
    let (a, b) = (vector(one), vector(other));
    let chord = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    (2.0 * (chord / 2.0).min(1.0).asin()).to_degrees()
}

fn plan(text: &str) -> (AutomaticIndex, IndexQuery, Page) {
    let tree = rql::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let plan = Plan::new(&tree, Parameters::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let Find::Index(query) = plan.find else { panic!("{text} needs an index") };
    let IndexChoice::Covering(needed) = query.index.clone() else { panic!("{text} names no index") };
    (needed, query, plan.page)
}

fn definition() -> AutomaticIndex {
    let point = "spatial.within(spatial.point(Lat, Lng), spatial.circle(1, 1, 1))";
    plan(&format!("from Us where {point} and spatial.within(spatial.wkt(W), spatial.circle(1, 1, 1))")).0
}

fn run(index: &Index, text: &str) -> (FoundEntries, Vec<String>) {
    let (needed, query, page) = plan(text);
    assert!(definition().covers(&needed), "{text}");
    let snapshot = index.read().unwrap();
    let found = execute::find(&snapshot, &definition(), &query, page, &|| Ok::<_, Error>(())).unwrap();
    let ids = found.entries.iter().map(|entry| snapshot.entry(*entry).unwrap().unwrap().document().to_owned());
    let ids = ids.collect();
    (found, ids)
}

/// Compares a set but for those in doubt.
#[track_caller]
fn compare(model: &Model, found: &[String], text: &str, holds: impl Fn(&Us) -> Option<bool>) -> usize {
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    for (id, us) in model {
        if let Some(holds) = holds(us) {
            assert_eq!(found.contains(id.as_str()), holds, "{text}: {id} {us:?}");
        }
    }
    assert!(found.iter().all(|id| model.contains_key(*id)), "{text}");
    found.len()
}

/// How many were found in all.
fn check(random: &mut Random, index: &Index, model: &Model) -> usize {
    let mut count = 0;
    let asked = Asked::random(random);
    for (operation, is_wanted) in [("within", true), ("intersects", true), ("disjoint", false)] {
        let text = format!("from Us where spatial.{operation}(spatial.point(Lat, Lng), {})", asked.text());
        let (_, ids) = run(index, &text);
        count += compare(model, &ids, &text, |us| match us.at {
            Some(at) => asked.has(at).map(|has| has == is_wanted),
            None => Some(false),
        });
    }
    let asked = Area::random(random);
    for operation in ["within", "contains", "intersects", "disjoint"] {
        let text = format!("from Us where spatial.{operation}(spatial.wkt(W), spatial.wkt('{}'))", asked.text());
        let (_, ids) = run(index, &text);
        count += compare(model, &ids, &text, |us| {
            Some(us.area.is_some_and(|area| match operation {
                "within" => area.is_in(&asked),
                "contains" => asked.is_in(&area),
                "intersects" => area.meets(&asked),
                _ => !area.meets(&asked),
            }))
        });
    }
    check_order(random, index, model);
    count
}

fn check_order(random: &mut Random, index: &Index, model: &Model) {
    let from = position(random);
    let is_falling = random.chance(2);
    let direction = if is_falling { " desc" } else { "" };
    let take = random.below(1 + 2 * model.len() as u64);
    let (lat, lng) = from;
    let by = format!("spatial.distance(spatial.point(Lat, Lng), spatial.point({lat}, {lng}))");
    let text = format!("from Us order by {by}{direction} limit {take}");
    let (found, ids) = run(index, &text);
    assert_eq!((found.total, ids.len()), (model.len() as u64, model.len().min(take as usize)), "{text}");
    let apart = |us: &Us| us.at.map(|at| angle(from, at));
    let mut expected: Vec<Option<f64>> = model.values().map(apart).collect();
    expected.sort_by(|a, b| match (a, b) {
        (Some(a), Some(b)) if is_falling => b.total_cmp(a),
        (Some(a), Some(b)) => a.total_cmp(b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let distances = found.distances.unwrap_or_default();
    for ((id, distance), expected) in ids.iter().zip(distances).zip(expected) {
        let own = apart(&model[id]);
        assert_eq!(own.is_some(), expected.is_some(), "{text}: {id}");
        // What is as far may come in any order here.
        let difference = own.unwrap_or_default() - expected.unwrap_or_default();
        assert!(difference.abs() < DOUBT, "{text}: {id}");
        let km = distance.map(|distance| distance.distance / (60.0 * 1.1515 * 1.609344));
        assert!((km.unwrap_or_default() - own.unwrap_or_default()).abs() < DOUBT, "{text}: {id}");
    }
    // With another key behind it all rows are sorted, and not only the best ones kept.
    let (_, same) = run(index, &format!("from Us order by {by}{direction}, {by} limit {take}"));
    assert_eq!(ids, same, "{text}");
}

fn write(random: &mut Random, store: &DocumentStore, model: &mut Model) {
    let mut commands = Commands::new();
    for _ in 0..1 + random.below(60) {
        let id = format!("us/{}", random.below(300));
        if random.chance(6) {
            commands.delete(&id, Expected::Any).unwrap();
            model.remove(&id);
            continue;
        }
        let us = Us {
            at: (!random.chance(10)).then(|| position(random)),
            area: (!random.chance(3)).then(|| Area::random(random)),
        };
        let (lat, lng) =
            us.at.map_or(("null".to_owned(), "1".to_owned()), |(lat, lng)| (lat.to_string(), lng.to_string()));
        let area = us.area.map_or("null".to_owned(), |area| format!("\"{}\"", area.text()));
        let text = format!(r#"{{"Lat":{lat},"Lng":{lng},"W":{area},"@metadata":{{"@collection":"Us"}}}}"#);
        commands.put(&id, text.as_bytes(), Expected::Any).unwrap();
        model.insert(id, us);
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
}

#[test]
fn places_agree_with_a_look_at_every_document() {
    let mut count = 0;
    for seed in seeds(6, 300) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let io = SimulatedIo::new();
        let store = store(&io);
        let index = Index::open("/index", options(&io)).unwrap();
        let mut indexer = Indexer::new(&IndexDefinition::Automatic(definition()), &index).unwrap();
        let (mut model, mut batch) = (Model::new(), Batch::new());
        for _ in 0..8 {
            write(&mut random, &store, &mut model);
            while !indexer.step(&index, &store.read(), &mut batch).unwrap().is_done {}
            for _ in 0..12 {
                count += check(&mut random, &index, &model);
            }
        }
        let verification = index.read().unwrap().verify().unwrap();
        assert!(verification.problems.is_empty(), "{:?}", verification.problems);
    }
    assert!(count > 1000, "{count}");
}
