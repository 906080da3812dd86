// A message of the server: what stands between backticks is drawn as code.

export function Sentence({ text }: { text: string }) {
  const pieces = text.split("`");
  // A backtick without another one is a sign of the text.
  if (pieces.length % 2 === 0) return text;
  return pieces.map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece));
}
