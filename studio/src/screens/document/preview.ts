// Which attachments can be shown.

/** Images that browsers draw. */
const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;
const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson|yaml|toml|sql|graphql)$)|\+(json|xml)$/;
const TEXT_NAME = /\.(txt|md|csv|tsv|json|jsonl|xml|yaml|yml|toml|ini|log|sql|js|ts|css|html?|py|rs|go|java|cs|sh)$/i;

/** How a content can be shown; undefined if it cannot. Without a content type the name decides. */
export function previewOf({ name, contentType }: { name: string; contentType: string }): "image" | "text" | undefined {
  const type = contentType.split(";")[0]!.trim().toLowerCase();
  if (IMAGE.test(type)) return "image";
  if (TEXT.test(type)) return "text";
  const isUnknown = type === "" || type === "application/octet-stream";
  return isUnknown && TEXT_NAME.test(name) ? "text" : undefined;
}
