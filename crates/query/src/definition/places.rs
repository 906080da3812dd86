//! Fields of automatic indexes that keep places or shapes: `spatial.point(Lat, Lng)`, `spatial.wkt(Area)`.

use super::{Field, FieldName, FieldNeeds};

/// What of a document places are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places<'f> {
    /// The paths of a latitude and a longitude.
    Point(&'f str, &'f str),
    /// The path of well-known text.
    Wkt(&'f str),
}

const POINT: &str = "spatial.point(";
const WKT: &str = "spatial.wkt(";

/// What stands between the paths of a point. No path has it.
const BETWEEN: &str = ", ";

impl<'f> Places<'f> {
    /// What a field keeps. `None`: no places.
    pub fn of(field: &'f Field) -> Option<Places<'f>> {
        let path = field.name.path.strip_suffix(')').filter(|_| field.needs.is_spatial)?;
        match path.strip_prefix(POINT).and_then(|paths| paths.split_once(BETWEEN)) {
            Some((latitude, longitude)) => Some(Places::Point(latitude, longitude)),
            None => path.strip_prefix(WKT).map(Places::Wkt),
        }
    }

    /// The field that keeps them. `None`: a path cannot be told from what is around it.
    pub fn field(self) -> Option<Field> {
        let is_plain = |path: &str| !path.is_empty() && !path.contains([',', '(', ')']);
        let path = match self {
            Places::Point(latitude, longitude) if is_plain(latitude) && is_plain(longitude) => {
                format!("{POINT}{latitude}{BETWEEN}{longitude})")
            }
            Places::Wkt(path) if is_plain(path) => format!("{WKT}{path})"),
            _ => return None,
        };
        let needs = FieldNeeds { is_spatial: true, ..FieldNeeds::default() };
        Some(Field { name: FieldName { path, is_quoted: false }, needs })
    }

    /// How they stand in the name of an index.
    pub(super) fn label(self) -> String {
        match self {
            Places::Point(latitude, longitude) => format!("Spatial.point({latitude}|{longitude})"),
            Places::Wkt(path) => format!("Spatial.wkt({path})"),
        }
    }
}
