"use strict";

// Elements and texts. Names come from anybody's data: they become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function add(parent, tag, attributes = {}, ...children) {
  const name = parent?.namespaceURI === SVG || tag === "svg" ? SVG : null;
  const element = name ? document.createElementNS(name, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  parent?.append(element);
  return element;
}

// Letters that would not show, or would turn the text around, are written out.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function printable(text) {
  return String(text).replace(UNSEEN, (letter) => {
    const code = letter.codePointAt(0).toString(16);
    if (code.length <= 2) return "\\x" + code.padStart(2, "0");
    return code.length <= 4 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0");
  });
}

// Four digits, as the tables in a terminal have them.
function number(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e7) return value.toExponential(3).replace(/\.?0+e/, "e");
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return size >= 1e4 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
}

function signed(value) {
  return (value > 0 ? "+" : "") + number(value).replace("-", "−");
}

// The numbers of a column with as many decimals each, as _in_words.py writes them: four
// digits of the largest, two of the smallest, none that are 0 throughout.
const [MOST_DECIMALS, HUGE] = [6, 1e7];
const isUsual = (size) => size >= 10 ** (1 - MOST_DECIMALS) && size < HUGE;

function decimalsOf(values) {
  const sizes = values.map(Math.abs).filter(isUsual);
  if (!sizes.length) return 0;
  const power = (size) => Math.floor(Math.log10(size));
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const decimals = Math.min(Math.max(3 - power(high), 1 - power(low), 0), MOST_DECIMALS);
  const zeros = sizes.map((size) => /\.?0*$/.exec(size.toFixed(decimals))[0].replace(".", "").length);
  return decimals - Math.min(decimals, ...zeros);
}

function evenly(values, isSigned = false) {
  const known = values.filter((value) => value !== null && value !== undefined);
  const decimals = decimalsOf(known);
  const written = (value) => {
    if (value !== 0 && !isUsual(Math.abs(value))) return isSigned ? signed(value) : number(value);
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    const text = Math.abs(value).toLocaleString("en", digits);
    const sign = value < 0 ? "−" : isSigned && value > 0 ? "+" : "";
    return sign + text;
  };
  return values.map((value) => (known.includes(value) ? written(value) : "–"));
}

function counted(n, thing) {
  return `${number(n)} ${thing}${n === 1 ? "" : "s"}`;
}

function largest(values) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value ?? 0));
  return most;
}

// A bar to the right for what is above 0, to the left for what is below.
function bar(value, most, plain = false) {
  const box = add(null, "div", { class: plain ? "bar plain" : "bar", "aria-hidden": "true" });
  if (value && most > 0) {
    const part = add(box, "i", { class: value > 0 ? "above" : "below" });
    part.style.width = `${((plain ? 100 : 50) * Math.abs(value)) / most}%`;
  }
  return box;
}
