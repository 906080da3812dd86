//! The places of a query in which functions stand, and what a function means in each.

use super::facet::Measures;
use crate::definition::{Analysis, Measure, Places};
use crate::plan::{
    Condition, Filter, FilterCondition, FilterPlanner, Includes, Parameters, Planner, Refused, SortBy, VectorTarget,
};
use crate::rql::Call;
use crate::spatial::{Geometry, Units};
use crate::vector::VectorOptions;

/// A clause of a query, or another place in which a function stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// A condition of `where`.
    Where,
    /// A condition of `filter`.
    Filter,
    /// A key of `order by`.
    OrderBy,
    /// A key of `group by`.
    GroupBy,
    /// Conditions, orders and columns of a query with `group by`.
    Groups,
    /// A column of `select`.
    Select,
    /// An argument of `facet(..)`.
    Facet,
    /// `include`
    Include,
    /// A field or a shape of the functions about places.
    Spatial,
    /// A field or a vector of `vector.search(..)`.
    Vector,
    /// A value that something is compared with.
    Value,
}

impl Clause {
    /// What errors and documentation call it.
    pub fn name(self) -> &'static str {
        match self {
            Clause::Where => "where",
            Clause::Filter => "filter",
            Clause::OrderBy => "order by",
            Clause::GroupBy => "group by",
            Clause::Groups => "results of group by",
            Clause::Select => "select",
            Clause::Facet => "facet()",
            Clause::Include => "include",
            Clause::Spatial => "functions about places",
            Clause::Vector => "vector.search()",
            Clause::Value => "values",
        }
    }
}

/// Plans a condition of `where`. The analysis is that of the fields in it: `exact(..)` changes it.
pub(crate) type PlanCondition = fn(&mut Planner<'_>, &Call<'_>, Analysis) -> Result<Condition, Refused>;

/// Plans a condition of `where` that needs no index. `None`: this call does.
///
/// The second argument is the alias of the query.
pub(crate) type PlanCollection = fn(&Call<'_>, Option<&str>, Parameters<'_>) -> Result<Option<Filter>, Refused>;

/// Plans a condition of `filter`.
pub(crate) type PlanFilter = fn(&mut FilterPlanner<'_, '_>, &Call<'_>) -> Result<FilterCondition, Refused>;

/// Plans a key of `order by`.
pub(crate) type PlanOrder = fn(&mut Planner<'_>, &Call<'_>) -> Result<SortBy, Refused>;

/// Adds what a call of `include` asks for.
pub(crate) type PlanInclude = fn(&mut Includes, &Call<'_>, Parameters<'_>) -> Result<(), Refused>;

/// The field that is made of these paths of documents. `None`: they are too many or too few.
pub(crate) type PlanPlaces = for<'p> fn(&'p [String]) -> Option<Places<'p>>;

/// Plans a shape.
pub(crate) type PlanShape = fn(&Planner<'_>, &Call<'_>) -> Result<(Geometry, Option<Units>), Refused>;

/// Plans a vector.
pub(crate) type PlanVector = fn(&Planner<'_>, &Call<'_>) -> Result<VectorTarget, Refused>;

/// What a function means in one place, and how it is planned there.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// In `where`.
    Condition(PlanCondition),
    /// In `where`, if nothing else stands there and the source is a collection.
    Collection(PlanCollection),
    /// In `filter`.
    Filter(PlanFilter),
    /// In `order by`.
    Order(PlanOrder),
    /// In conditions, orders and columns of a query that groups.
    Group(GroupField),
    /// In `facet(..)`: what is computed from a field.
    Measure(Measures),
    /// In `include`.
    Include(PlanInclude),
    /// As the field of a function about places.
    Places(PlanPlaces),
    /// As the shape of a function about places.
    Shape(PlanShape),
    /// As the field of `vector.search(..)`: how its vectors are kept.
    VectorField(VectorOptions),
    /// As the vector of `vector.search(..)`.
    Vector(PlanVector),
    /// The planner of the clause looks for this one function itself, before all others.
    Known(Clause),
}

/// A field of the results of a query that groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupField {
    /// The key, or all keys.
    Key,
    /// How many entries the group has.
    Count,
    /// The sum of a field.
    Sum,
    /// What is computed of the numbers of a field.
    Measure(Measure),
}

impl Use {
    /// Where it is.
    pub fn clause(self) -> Clause {
        match self {
            Use::Condition(_) | Use::Collection(_) => Clause::Where,
            Use::Filter(_) => Clause::Filter,
            Use::Order(_) => Clause::OrderBy,
            Use::Group(_) => Clause::Groups,
            Use::Measure(_) => Clause::Facet,
            Use::Include(_) => Clause::Include,
            Use::Places(_) | Use::Shape(_) => Clause::Spatial,
            Use::VectorField(_) | Use::Vector(_) => Clause::Vector,
            Use::Known(clause) => clause,
        }
    }
}
