// A page of the documentation, drawn from its tree.
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { copied } from "../../shell/clipboard";
import { Icon } from "../../theme/icons";
import type { Block, Inline } from "./tree";
import styles from "./help.module.css";

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, at) => <OneBlock key={at} block={block} />);
}

function OneBlock({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level)}` as "h2";
      return (
        <Heading data-at={block.at} tabIndex={-1}>
          <Inlines nodes={block.children} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p>
          <Inlines nodes={block.children} />
        </p>
      );
    case "line":
      return <Inlines nodes={block.children} />;
    case "code":
      return <Code text={block.text} />;
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.children} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((item, at) => (
        <li key={at}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return (
        <div className={styles.table} tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, at) => (
                  <th key={at} scope="col" className={block.isRight[at] ? styles.right : undefined}>
                    <Inlines nodes={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, number) => (
                <tr key={number}>
                  {row.map((cell, at) => (
                    <td key={at} className={block.isRight[at] ? styles.right : undefined}>
                      <Inlines nodes={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "details":
      return (
        <details>
          <summary>{block.summary}</summary>
          <Blocks blocks={block.children} />
        </details>
      );
    case "rule":
      return <hr />;
  }
}

function Inlines({ nodes }: { nodes: readonly Inline[] }) {
  return nodes.map((node, at) => <OneInline key={at} node={node} />);
}

function OneInline({ node }: { node: Inline }) {
  if (typeof node === "string") return node;
  switch (node.kind) {
    case "strong":
    case "em":
    case "del": {
      const Form = node.kind;
      return (
        <Form>
          <Inlines nodes={node.children} />
        </Form>
      );
    }
    case "code":
      return <code>{node.text}</code>;
    case "break":
      return <br />;
    case "picture":
      return <img src={node.source} alt={node.text} loading="lazy" />;
    case "page":
      return (
        <Link to="/help" search={node.at === undefined ? { page: node.page } : { page: node.page, at: node.at }}>
          <Inlines nodes={node.children} />
        </Link>
      );
    case "outside":
      return (
        <a href={node.href} target="_blank" rel="noreferrer">
          <Inlines nodes={node.children} />
        </a>
      );
  }
}

function Code({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copied(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <div className={styles.code}>
      <pre tabIndex={0} aria-label="Example">
        {text}
      </pre>
      <Button
        className={styles.copy!}
        variant="default"
        size="compact-xs"
        leftSection={<Icon name={isCopied ? "check" : "copy"} size={12} />}
        onClick={() => void copy()}
        aria-label="Copy the example"
      >
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
