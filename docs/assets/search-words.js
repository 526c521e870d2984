// What a reader types is a question, and the search takes a list of words, each as the beginning of a word. So "how do I retry" finds
// "however" and "document". This rewrites each query before the search's worker gets it.
"use strict";

// Words that say nothing about what is looked for. The index does not have most of them.
const STOP_WORDS = new Set(
  ("a about after all also am an and any are as at be been but by can cannot could did do does else ever every for from get gets give " +
    "got had has have he help her him his how i if in into is it its just like make many may me might most much must my need no not of off often " +
    "on only or other our out own please should since so some than that the their them then there these they this to too us use using " +
    "want was way we were what when where which while who why will with work works would yet you your").split(" "),
);
// Words that nearly every page has: beside another word they say little. "mypy error" asks about mypy.
const COMMON_WORDS = new Set(
  ("agent agents call called calls client code codes error errors fail failed fails failure failures mcp mcpcore message messages server " +
    "servers tool tools").split(" "),
);
const QUERY = 2; // the type of the messages that carry one

// A word counts most where it stands by itself, less where it begins a longer one, and least where it stands inside a name: "budget"
// finds RetryBudget. A plural also finds the singular.
function forms(word, weight) {
  const singular = word.replace(/(?<=[a-z]{3})ies$/, "y").replace(/(?<=[a-z]{3}[^aius])s$/, "");
  if (weight < 1) return [word, ...(singular === word ? [] : [singular])].map((form) => `${form}^${20 * weight}`);
  const inside = singular.length < 4 ? [] : [`*${singular}*^1`];
  return [`${word}^20`, ...(singular === word ? [] : [`${singular}^20`]), `${singular}*^4`, ...inside];
}

function rewritten(query) {
  if (/"|(^|\s)[+~^-]\w|[*^~]/.test(query)) return query; // written in the search's own language
  const words = query.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).map((word) => word.replace(/^\.+|\.+$/g, "")).filter(Boolean);
  const meant = words.filter((word) => !STOP_WORDS.has(word));
  const rare = meant.filter((word) => !COMMON_WORDS.has(word));
  return (meant.length ? meant : words)
    .flatMap((word) => forms(word, rare.length && COMMON_WORDS.has(word) ? 0.1 : 1))
    .join(" ");
}

window.Worker = class extends window.Worker {
  postMessage(message, ...more) {
    super.postMessage(message?.type === QUERY ? { ...message, data: rewritten(message.data) } : message, ...more);
  }
};
