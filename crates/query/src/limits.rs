//! Bounds on queries. They are part of promise P13 in RELIABILITY.md: input over a limit is refused by name.

/// Bytes of the text of a query. Positions in it are 32 bits wide, and an error shows a part of it.
pub const QUERY_SIZE_MAX: usize = 1024 * 1024;

/// Parentheses and calls inside of one another, and brackets of a script. Each level of a condition is one of the stack.
pub const DEPTH_MAX: usize = 256;

/// Fields, their parts, values and calls of one query: what its syntax tree takes in memory.
pub const TERM_COUNT_MAX: usize = 64 * 1024;

/// Functions that one query declares. Each name is compared with all before it.
pub const FUNCTION_COUNT_MAX: usize = 1024;

/// Characters of the query that an error quotes.
pub(crate) const FOUND_CHARACTERS_MAX: usize = 64;

/// Bytes of a regular expression in a script. Where one may begin, its end is looked for no further than this.
pub(crate) const REGULAR_EXPRESSION_SIZE_MAX: usize = 16 * 1024;

/// Bytes of a term that are kept as they are. A longer one is cut to at most this size and completed by its hash, so that it
/// still differs from others, sorts by its beginning, and fits into a key. A document's id, the longest thing that is
/// commonly searched for as a whole, is never cut.
pub const TERM_SIZE_MAX: usize = 512;

/// Bytes of a text that begins a range, ends one, or is the beginning or end of texts: lower-cased, which adds up to half of
/// it, it is what an index surely keeps of a text.
pub const BOUND_SIZE_MAX: usize = (TERM_SIZE_MAX - 3) * 2 / 3;

/// Characters of a word of a text, as in Lucene: what is longer is no word that anybody looks for, and is left out.
pub const WORD_LENGTH_MAX: usize = 255;

/// Filters of a custom analyzer: each word passes all of them.
pub const ANALYZER_FILTERS_MAX: usize = 64;

/// Parts of one word, such as the parts of a host's name: where a word may begin, its end is looked for no further than this.
pub(crate) const WORD_PARTS_MAX: usize = 32;

/// Words, phrases and wildcards of one text that is searched for, as in Lucene. Each is a list or a walk through terms.
pub const SEARCH_CLAUSES_MAX: usize = 1024;

/// Words of a phrase. In each text that has them all, all their places are gone through.
pub const PHRASE_WORDS_MAX: usize = 128;

/// Words that a misspelled one is taken for, the likest: as in Lucene.
pub const FUZZY_WORDS_MAX: usize = 1024;

/// Words that are suggested for one field. All but the best of these are let go while terms are walked through.
pub const SUGGESTIONS_MAX: usize = 1024;

/// Terms of one `suggest(..)`. Each word of the field is compared with each of them.
pub const SUGGESTED_TERMS_MAX: usize = 64;

/// Words of a document that others are to be like, as in Lucene's clauses. Each is a list.
pub const MORE_LIKE_THIS_WORDS_MAX: usize = 1024;

/// Operators of one query that `explain` tells of.
pub const EXPLAINED_OPERATORS_MAX: usize = 256;

/// Characters of what `explain` tells of an operator's argument.
pub const EXPLAINED_TEXT_LENGTH_MAX: usize = 256;

/// Calls of declared functions in one `filter`: each is a script of its own.
pub const FILTER_CALLS_MAX: usize = 16;

/// Fields of one query whose words are marked.
pub const HIGHLIGHTS_MAX: usize = 64;

/// Fragments of one field that are given for each result, and names of its tags.
pub const HIGHLIGHT_FRAGMENTS_MAX: usize = 1024;

/// Characters of the shortest fragment, as in Lucene.
pub const HIGHLIGHT_LENGTH_MIN: u64 = 18;

/// Bytes of a field's texts in which words are marked; those behind are not looked at.
pub const HIGHLIGHT_TEXT_SIZE_MAX: usize = 1 << 20;

/// Facets of one query, each of their ranges and aggregations counted as one more. Each walks through terms or entries.
pub const FACETS_MAX: usize = 1024;

/// Bytes of a compiled regular expression of a condition.
pub(crate) const REGEX_SIZE_MAX: usize = 1 << 20;

/// Positions of one shape, a circle counted as one.
pub const SHAPE_POSITIONS_MAX: usize = 32 * 1024;

/// Positions of one shape of a query. One of so many is compared with one of [`SHAPE_POSITIONS_MAX`] in some seconds.
pub const SHAPE_POSITIONS_OF_QUERY_MAX: usize = 4 * 1024;

/// Pairs of positions of two shapes that are compared between two looks at whether to go on.
pub(crate) const POSITION_PAIRS_PER_CHECK: usize = 4 * 1024;

/// Cells that a shape of a query is covered with. Each is a search in the index; the fewer there are, the more entries lie on the border
/// and are compared one by one.
pub const CELLS_OF_QUERY_MAX: usize = 128;

/// Cells that a shape of a document is covered with. Each is a term.
pub(crate) const CELLS_OF_SHAPE_MAX: usize = 32;

/// Positions that are gone through to cover one shape, in the order of magnitude: shapes of more get fewer cells.
pub(crate) const COVERING_POSITIONS_MAX: usize = 256 * 1024;

/// Components of a vector. Two are compared in a few microseconds.
pub const VECTOR_DIMENSIONS_MAX: usize = 16 * 1024;

/// Neighbours that a definition may ask for on each level of a graph; on the lowest there are up to twice as many.
pub const VECTOR_EDGES_MAX: usize = 256;

/// Vectors that a query, or a definition for indexing, may have looked at.
pub const VECTOR_CANDIDATES_MAX: usize = 16 * 1024;

/// Vectors of one query's `vector.search(..)`. Each is looked for on its own.
pub const VECTORS_OF_QUERY_MAX: usize = 64;

/// Vectors of one field of one entry. Each that is new is put into the graph when the entry is written.
pub const VECTORS_OF_ENTRY_MAX: usize = 1024;

/// Documents that the `load` clauses of a query may load for one result, each as often as it is named.
pub const LOADED_MAX: usize = 16 * 1024;

/// Fields up to which an index that queries made is widened. A query that needs one more gets a further index: the fields that others asked
/// for keep no query from its own.
pub const AUTOMATIC_FIELDS_MAX: usize = 1024;

/// Characters of the name that a user gives an index.
pub const INDEX_NAME_LENGTH_MAX: usize = 206;

/// Characters of a name for which a similar one is looked for: comparing two takes the product of their lengths.
pub const SPELLING_LENGTH_MAX: usize = 64;

/// Differences between a misspelt name and the one that is suggested for it.
pub const SPELLING_DISTANCE_MAX: usize = 2;
