// Of pages that have a word, those come first that have it in a heading, and in their
// title, then the glossary and the manuals, then the lessons; Spanish pages come last. What
// a command is for comes before its options. The first pattern that fits a page counts.
const FIRST = [
  [/^README\.es|\/es\//, -100], [/house|contributing/, -9], [/GLOSSARY/, 10],
  [/^docs\/reference\/command/, 5], [/^docs\/reference/, 9], [/^docs\/how-to/, 8],
  [/^notebooks\/0/, 4], [/^notebooks/, 1],
];
const asked = new URLSearchParams(location.search).get("q")?.toLowerCase().split(/\s+/) ?? [];
const phrase = asked.length > 1 ? 12 : 3;  // a heading that has all of it
var Scorer = {
  score: ([docname, title, , , score, , kind]) => {
    const isTitle = asked.some((word) => word && title.toLowerCase().includes(word));
    const page = FIRST.find(([pattern]) => pattern.test(docname))?.[1] ?? 0;
    return score + page + (kind === "title" ? phrase : 0) + (isTitle ? 6 : 0);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
