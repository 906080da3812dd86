// A field of a collection: its types, how many documents have it, and its values, each a link to the query that finds the documents.
import { Link } from "@tanstack/react-router";
import type { CSSProperties, ReactNode } from "react";
import { count, counted, glimpse } from "../../format/format";
import { goThrough } from "../../shell/roving";
import { pathForPeople } from "../query/names";
import { quotedIfNeeded } from "../query/text";
import type { Field, Shown } from "./fields";
import styles from "./fields.module.css";

type Props = { database: string; collection: string; field: Field; documentCount: number };

export function FieldRow({ database, collection, field, documentCount }: Props) {
  const name = pathForPeople(field.path);
  const above = pathForPeople(field.path.slice(0, -1));
  const ownStart = above.length + (above !== "" && name[above.length] === "." ? 1 : 0);
  const { histogram, examples, whereMissing, whereNull } = field;
  // The links of a field are one stop of the tab key: the first of them.
  const stop = whereMissing ?? whereNull ?? [...histogram.bars, ...examples].find(isLinked)?.where;
  const toQuery = (where: string) => ({
    to: "/databases/$database/query" as const,
    params: { database },
    search: { q: `from ${quotedIfNeeded(collection)} where ${where}` },
    tabIndex: where === stop ? 0 : -1,
  });
  /** A value as a link, if a query finds it. * `title`: what it is. * `share`: how much of its place it fills. */
  const value = (shown: Shown, className: string | undefined, content: ReactNode, title: string, share?: number) => {
    const style = share === undefined ? {} : { style: { "--share": share } as CSSProperties };
    return isLinked(shown) ? (
      <Link {...toQuery(shown.where!)} className={className} {...style} title={title} aria-label={title}>
        {content}
      </Link>
    ) : (
      <span className={className} {...style} title={title}>
        {content}
      </span>
    );
  };
  const top = Math.max(1, ...histogram.bars.map((bar) => bar.count));
  const share = field.documentCount / documentCount;
  return (
    <tr role="row" onKeyDown={goThrough}>
      <th scope="row" role="rowheader" className={styles.field}>
        <span className={styles.name} title={name}>
          <span className={styles.above}>{name.slice(0, ownStart)}</span>
          {name.slice(ownStart)}
        </span>
        <span className={styles.kinds}>
          {field.kinds.map(({ kind, count: found, share: part }) => (
            <span key={kind} className={styles.kind} data-kind={kind} title={`${kind}: ${counted(found, "value")}`}>
              {field.kinds.length > 1 ? `${kind} ${percent(part)}` : kind}
            </span>
          ))}
        </span>
      </th>
      <td role="cell" className={styles.documents}>
        <span className="number">
          {share === 1 ? "all" : percent(share)}
          {share < 1 && <span className="soft">{` · ${count(field.documentCount)}`}</span>}
        </span>
        <span className={styles.bar} aria-hidden="true">
          <i style={{ width: `${share * 100}%` }} />
        </span>
        <span className={styles.others}>
          {whereMissing !== undefined && (
            <Link {...toQuery(whereMissing)} aria-label={`Documents without ${name}`}>
              without
            </Link>
          )}
          {whereNull !== undefined && (
            <Link {...toQuery(whereNull)} aria-label={`Documents where ${name} is null`}>
              null
            </Link>
          )}
        </span>
      </td>
      <td role="cell" className={styles.values}>
        {histogram.kind === "buckets" && (
          <div className={styles.buckets} role="group" aria-label={`Histogram of ${name}`}>
            {histogram.bars.map((bar) => (
              <span key={bar.text} className={styles.bucket}>
                {value(bar, undefined, <i style={{ height: `${(bar.count / top) * 100}%` }} />, `${bar.text}: ${count(bar.count)}`)}
              </span>
            ))}
          </div>
        )}
        {histogram.kind === "values" && histogram.bars.length > 0 && (
          <div className={styles.bars} role="group" aria-label={`Most frequent values of ${name}`}>
            {histogram.bars.map((bar) => (
              <span key={bar.text} className={styles.valueBar}>
                {value(
                  bar,
                  styles.value,
                  <>
                    <span className="cut">{visible(bar.text)}</span>
                    <span className="number">{count(bar.count)}</span>
                  </>,
                  `${visible(bar.text)}: ${count(bar.count)}`,
                  bar.count / top,
                )}
              </span>
            ))}
          </div>
        )}
        <p className={styles.range}>{rangeOf(field)}</p>
        {examples.length > 0 && (
          <div className={styles.examples} role="group" aria-label={`Examples of ${name}`}>
            {examples.map((example) => (
              <span key={example.text} className={styles.exampleBox}>
                {value(example, styles.example, visible(example.text), visible(example.text))}
              </span>
            ))}
          </div>
        )}
      </td>
    </tr>
  );
}

const isLinked = (shown: Shown) => shown.where !== undefined && shown.count > 0;

/** `0.02 to 1007.64`, `1 to 25 items`, `Andrew to Steven · 9 different values`, `always 1`. */
function rangeOf({ kinds, least, largest, distinctCount, hasMoreValues, histogram, examples }: Field): string {
  if (least === undefined || largest === undefined) return "";
  const isArray = kinds.find(({ kind }) => kind !== "null")?.kind === "array";
  if (isArray) return least === largest ? counted(Number(least), "item") : `${least} to ${counted(Number(largest), "item")}`;
  if (least === largest) return kinds.length === 1 ? `always ${visible(least)}` : "";
  const isWhole = histogram.kind === "values" && distinctCount <= histogram.bars.length + examples.length;
  const values = isWhole ? "" : ` · ${hasMoreValues ? "more than " : ""}${counted(distinctCount, "different value")}`;
  return `${visible(least)} to ${visible(largest)}${values}`;
}

/** `100%`, `12%`, `< 1%`: what is not all is not written as all. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return "< 1%";
  return `${share > 0.99 && share < 1 ? 99 : Math.round(share * 100)}%`;
}

/** A value that can be seen; a date as in a grid. */
function visible(text: string): string {
  return text === "" ? "(empty)" : text.trim() === "" ? "(blank)" : glimpse(text);
}
