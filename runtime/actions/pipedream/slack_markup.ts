/**
 * HTML in the markup of Slack messages.
 *
 * Responsible for text, emphasis, links, lists, code and tables. Styles, scripts and
 * forms have no place in a message.
 */

import { type ChildNode, Element, isTag, isText } from "npm:domhandler@5.0.3";
import { parseDocument } from "npm:htmlparser2@8.0.2";

export function slackMarkup(html: string): string {
  return inline(parseDocument(html).children, 0);
}

/** Elements whose content is not text of the page. */
const HIDDEN = ["script", "style", "head", "template"];
const INDENT = "  ";

function inline(nodes: ChildNode[], depth: number): string {
  return nodes.map((node) => {
    if (isText(node)) return node.data;
    return isTag(node) ? element(node, depth) : "";
  }).join("");
}

function element(node: Element, depth: number): string {
  const content = () => inline(node.children, depth);
  switch (node.name) {
    case "a":
      return node.attribs.href ? `<${node.attribs.href}|${content()}>` : content();
    case "b":
    case "strong":
      return marked(content(), "*");
    case "i":
    case "em":
      return marked(content(), "_");
    case "s":
    case "del":
    case "strike":
      return marked(content(), "~");
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return `${marked(content().replaceAll("*", ""), "*")}\n`;
    case "p":
      return `${content()}\n`;
    case "br":
      return "\n";
    case "code":
      return `\`${content()}\``;
    case "pre":
      return `\`\`\`\n${plain(node.children)}\`\`\`\n`;
    case "blockquote":
      return `${content().trim().replace(/^/gm, "> ")}\n`;
    case "ul":
    case "ol":
      return list(node, depth);
    case "table":
      return table(node);
    case "img":
      return image(node);
  }
  return HIDDEN.includes(node.name) ? "" : content();
}

/** Marks hold within a line only, and not beside white space inside them. */
function marked(text: string, mark: string): string {
  return text.replace(
    /^([^\S\n]*)(\S(?:.*\S)?)([^\S\n]*)$/gm,
    (_, before, words, after) => {
      const isMarked = words.length > 1 && words.startsWith(mark) &&
        words.endsWith(mark);
      return before + (isMarked ? words : mark + words + mark) + after;
    },
  );
}

function list(node: Element, depth: number): string {
  let number = Number(node.attribs.start ?? 1);
  const items = node.children.filter(isTag).map((child) => {
    const content = inline(child.children, depth + 1);
    if (child.name !== "li") return content;
    const bullet = node.name === "ol" ? `${number++}.` : "•";
    return `${INDENT.repeat(depth)}${bullet} ${content.trim()}\n`;
  });
  // A list within an item begins on a line of its own.
  return (depth > 0 ? "\n" : "") + items.join("");
}

function table(node: Element): string {
  const rows = descendants(node, "tr").map((row) => ({
    isHead: row.children.some((cell) => isTag(cell) && cell.name === "th"),
    cells: row.children.filter(isTag).map(({ children }) => inline(children, 0).trim()),
  }));
  return rows.map(({ isHead, cells }) => {
    const line = `| ${cells.join(" | ")} |\n`;
    const rule = cells.map((cell) => "-".repeat(Math.max(cell.length, 1)));
    return isHead ? `${line}| ${rule.join(" | ")} |\n` : line;
  }).join("");
}

function image({ attribs: { alt, src } }: Element): string {
  return `<Inline Image${alt ? `(${alt})` : ""}: ${src ?? ""}>`;
}

function plain(nodes: ChildNode[]): string {
  return nodes.map((node) => {
    if (isText(node)) return node.data;
    return isTag(node) ? plain(node.children) : "";
  }).join("");
}

function descendants(node: Element, name: string): Element[] {
  return node.children.filter(isTag).flatMap((child) =>
    child.name === name ? [child] : descendants(child, name)
  );
}
