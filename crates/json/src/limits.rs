//! What JSON text may not exceed.

/// Objects and arrays inside of one another. Deep text costs stack or state in each of its readers.
pub const DEPTH_MAX: usize = 256;

/// Bytes of one property name, as it is stored.
pub const PROPERTY_NAME_SIZE_MAX: usize = 64 * 1024;

/// Bytes of one text given to the [`Minifier`](crate::Minifier): positions inside are 32 bits wide.
pub const INPUT_SIZE_MAX: usize = u32::MAX as usize;

/// Operations of one [`Patch`](crate::Patch): each may copy the whole document.
pub const PATCH_OPERATIONS_MAX: usize = 1024;

/// Bytes of the document that the operations of one [`Patch`](crate::Patch) go through, all together: about a second.
pub const PATCH_WORK_MAX: u64 = 2 << 30;

/// Bytes of buffers that a [`Minifier`](crate::Minifier) keeps from text to text. One large text shall not hold memory for
/// ever in each thread that ever saw one.
pub(crate) const KEPT_BUFFER_SIZE_MAX: usize = 1024 * 1024;
