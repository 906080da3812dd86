//! A row of the table of functions.

use super::argument::{self, Argument};
use super::clause::{
    Clause, GroupField, PlanCollection, PlanCondition, PlanFilter, PlanInclude, PlanOrder, PlanPlaces, PlanShape,
    PlanVector, Use,
};
use super::facet::Measures;
use crate::plan::Refused;
use crate::vector::VectorOptions;

/// A function of RQL.
pub struct Function {
    /// Its name; queries may write it in any case.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub arguments: &'static [Argument],
    /// What it does, in a sentence or two.
    pub about: &'static str,
    /// A query that calls it.
    pub example: &'static str,
    /// Where it may stand, and how it is planned there.
    pub(crate) uses: &'static [Use],
    /// Where RavenDB has it and a query with it is answered with 501 here.
    pub(crate) missing: &'static [Clause],
}

impl Function {
    /// Whether a call of this name is one of it.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }

    /// Its name, then its other names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Where it may stand, each place once. Nowhere: queries with it are answered with 501.
    pub fn clauses(&self) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        for clause in self.uses.iter().map(|usage| usage.clause()) {
            if !clauses.contains(&clause) && !self.missing.contains(&clause) {
                clauses.push(clause);
            }
        }
        clauses
    }

    /// Its arguments, those in brackets optional: `field, text[, operator]`.
    pub fn signature(&self) -> String {
        argument::signature(self.arguments)
    }

    /// Why a call with other arguments is refused.
    pub(crate) fn wrong_arguments(&self) -> Refused {
        Refused::Invalid(format!("Method {}() needs {}", self.name, argument::needs(self.arguments)))
    }

    /// Whether a clause answers it with 501.
    pub(crate) fn is_missing(&self, clause: Clause) -> bool {
        self.missing.contains(&clause)
    }

    /// Whether a name as this argument is a field, and no other word.
    pub(crate) fn takes_field(&self, argument: usize) -> bool {
        self.arguments.get(argument).is_some_and(|argument| argument.kind.is_field())
    }

    fn find<T>(&self, of: impl FnMut(&Use) -> Option<T>) -> Option<T> {
        self.uses.iter().find_map(of)
    }

    /// How it is planned in `where`.
    pub(crate) fn condition(&self) -> Option<PlanCondition> {
        self.find(|usage| if let Use::Condition(plan) = usage { Some(*plan) } else { None })
    }

    /// How it is planned in `where` without an index.
    pub(crate) fn collection(&self) -> Option<PlanCollection> {
        self.find(|usage| if let Use::Collection(plan) = usage { Some(*plan) } else { None })
    }

    /// How it is planned in `filter`.
    pub(crate) fn filter(&self) -> Option<PlanFilter> {
        self.find(|usage| if let Use::Filter(plan) = usage { Some(*plan) } else { None })
    }

    /// How it is planned in `order by`.
    pub(crate) fn order(&self) -> Option<PlanOrder> {
        self.find(|usage| if let Use::Order(plan) = usage { Some(*plan) } else { None })
    }

    /// What it is of a group.
    pub(crate) fn group_field(&self) -> Option<GroupField> {
        self.find(|usage| if let Use::Group(field) = usage { Some(*field) } else { None })
    }

    /// What it computes in `facet(..)`.
    pub(crate) fn measures(&self) -> Option<Measures> {
        self.find(|usage| if let Use::Measure(measures) = usage { Some(*measures) } else { None })
    }

    /// How it is planned in `include`.
    pub(crate) fn include(&self) -> Option<PlanInclude> {
        self.find(|usage| if let Use::Include(plan) = usage { Some(*plan) } else { None })
    }

    /// How a field of places is made by it.
    pub(crate) fn places(&self) -> Option<PlanPlaces> {
        self.find(|usage| if let Use::Places(plan) = usage { Some(*plan) } else { None })
    }

    /// How a shape is planned.
    pub(crate) fn shape(&self) -> Option<PlanShape> {
        self.find(|usage| if let Use::Shape(plan) = usage { Some(*plan) } else { None })
    }

    /// How a field keeps its vectors.
    pub(crate) fn vector_field(&self) -> Option<VectorOptions> {
        self.find(|usage| if let Use::VectorField(options) = usage { Some(*options) } else { None })
    }

    /// How a vector is planned.
    pub(crate) fn vector(&self) -> Option<PlanVector> {
        self.find(|usage| if let Use::Vector(plan) = usage { Some(*plan) } else { None })
    }
}
