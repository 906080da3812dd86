//! `id([alias])`. Each clause knows it, because it is a value and not a condition.

use super::{Argument, Clause, Function, Kind, Use};

pub(crate) static ID: Function = Function {
    name: "id",
    aliases: &[],
    arguments: &[Argument::optional("alias", Kind::Alias)],
    about: "The id of the document. In `facet(id('document'))` it names the document that has the facets.",
    example: "from Orders where id() in ('orders/1-A', 'orders/2-A') order by id() select id(), Company",
    uses: &[
        Use::Known(Clause::Where),
        Use::Known(Clause::Filter),
        Use::Known(Clause::OrderBy),
        Use::Known(Clause::Select),
        Use::Known(Clause::Facet),
    ],
    missing: &[],
};
