// The lessons come first among pages that fit a search equally well: by their number.
var Scorer = {
  score: ([docname, , , , score]) => {
    const lesson = docname.match(/^notebooks\/0(\d)/);
    return score + (lesson ? 3 : docname.startsWith("notebooks/") ? 1 : 0);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
