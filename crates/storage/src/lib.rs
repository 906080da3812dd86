//! The storage engine: pages, journal, transactions, trees, tables.
