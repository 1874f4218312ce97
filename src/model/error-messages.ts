/** Tests whether a text that begins with a word for an error is a message, rather than a title, an entry, a manual, a measurement or a log. */

/** UTF-16 units after the colon that are read. */
const lineMax = 400;
const linesMax = 40;

const words = (list: string): RegExp => new RegExp(`(?:^|[^\\p{L}])(?:${list})`, 'iu');

/** Words for something that went wrong, in the languages that write `Error:` and some more. */
const WRONG = words(
  "exceptions?\\s|fail|occur|fault|invalid|inv[áa]lid|unexpected|unknown|unable|missing|not\\b|no\\b|cannot|can[’']t|could|den(?:y|ied)|refus|reset\\b|forbid|unauth|time[ds]?[ -]?out|timeout|expire|exceed|limit|quota|too\\s|require|must\\b|already|exist|unavail|" +
    'unsupport|unreach|undefined|null\\b|nan\\b|out of|abort|cancel|interrupt|closed|overflow|conflict|duplicate|malformed|corrupt|syntax|illegal|bad\\b|wrong|insufficient|internal|permission|reject|disallow|disconnect|unrecogni|violat|mismatch|' +
    'crash|lost\\b|broken?\\b|stopped|killed|blocked|empty|incomplete|supera|máxim|límite|incorrect|encontr|permit|deneg|fall[óo]|erreur|invalide|introuvable|échou|expir|interdit|manqu|ung(?:ü|ue)ltig|nicht|kein|fehl|abgelaufen|verweigert|überschr|erforderlich|não|niet|geen|non\\b|impossib',
);
/** Signs of a message, as opposed to a title: digits, quotes, paths, a finite verb, a participle at the end. */
const STATEMENT =
  /[\d'"`{}[\]/_=<>()]|\p{L}ed[.!]?$|(?:^|\s)(?:is|are|was|were|has|have|had|does|do|did|should|can|will|would|está|es|son|est|sont|ist|sind|wurde|hat|è|é)\s/u;
const NOTHING =
  /^(?:none|no|nil|null|n\/?a|false|true|off|on|-+|—|nothing|no (?:known )?(?:errors?|exceptions?)(?: (?:found|detected|reported|occurred))?|keine?r?|ningun[oa]?|aucune?|nessun[oa]?|nenhuma?(?: erro)?(?: foi (?:achado|encontrado))?|geen|inga?|brak|нет|немає|няма|لا (?:يوجد|شيء)|אין|कोई नहीं|ไม่มี|yok|không|tidak ada|ei ole|nincs|žádn[áýé]|ingen|无|無|没有|なし|없음)[.!]?\s*(?:$|[,;|(])/iu;
const MEASURE = /^[±+\-~≈<>≤≥]{0,2}\s?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?\s?(?:%|‰|±|\p{L}{1,5}|°\p{L}?)?\s*(?:$|[,;|(±/]|of\s)/iu;
/** A count of things, as in a report. */
const COUNTED = /^(?![45]\d\d )\d{1,7} \p{Ll}/u;
const STATUS = /^[45]\d\d[.!]?$/;
const QUESTION =
  /^(?:what|how|why|causes?\b|understanding|explained|definition|meaning|types? of|an? introduction|overview|history of|tutorial|guide|best practices|lessons|cómo|qué|por qué|was ist|wie\b|warum|comment\b|pourquoi|come\b|perché)/iu;
const DOCUMENTED =
  /^(?:raised|thrown|throws|raises|emitted|indicates?|occurs|represents|(?:the )?base class|subclass|returned (?:when|if|by)|used (?:when|to|for)|exceptions? (?:raised|thrown|that)|errors? (?:raised|thrown|class|type|that|which|in\b)|(?:is )?(?:an?|the) (?:subclass|class|type|kind|built-in|exception|error) (?:that|which|of|raised|thrown|for))/i;
/** Headings of questions, and cross-references. */
const REFERENCE = /^see\b|\s[—–|-]\s(?:how|why|what|stack overflow|\d+ answers|explained|solved|fix(?:ed)?\b)/i;
const CODE =
  /^(?:class|struct|interface|enum|def|typeof|string|boolean|number|object|integer|any|type)\b\s*(?:$|[;{=|,]|.*[{;]\s*$|\w+\s*[(:])/;
/** Exceptions to a rule: such texts also begin with `Exception`. */
const POLICY =
  /(?:^|\s)(?:may\b|free\b|exempt|excluded|allowed|apply|applies|holidays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|weekends?|children|under \d|unless|members?\b|employees|customers? with)/i;
const ARTICLE = /^(?:an?|the|una?|el|la|los|las|le|les|une|des|der|die|das|eine?|il|lo|gli|uno|os?|as?|uma?|een|het|de)\s/iu;
const TITLE_WORDS = /^(?:[\p{Lu}\d]|(?:an?|the|of|in|on|and|or|for|to|from|with|by|de|la|der|die|und|et|y)$)/u;
const FRAME = /\n\s+(?:at |File "|from )|\n\s*Caused by: /;
const LISTED =
  /^\s*(?:\[?\d{4}-\d\d|\[?(?:ERROR|Error|WARN(?:ING)?|Warning|INFO|Info|DEBUG|Debug|NOTICE|Notice|TRACE|OK|FATAL|CRITICAL|SUCCESS|Exception)\b\s?[\]:|-]|[A-Z]\w*(?:Error|Exception): )/;
const BYLINE =
  /^(?:by|von|par|por|author|published|abstract|summary|contents|chapter|isbn|source|url|edited)\b|^(?:\d+\. |[-=*#]{3,}|#{1,6} |\|)/i;

/**
 * True when a text after an error name and a colon is an error message rather than a title, dictionary entry, manual, measurement or list of log
 * lines. `isBare`: the name is just the word, as in `Error:`.
 */
export function readsAsError(
  behind: string,
  { isBare, isException, whole }: { readonly isBare: boolean; readonly isException: boolean; readonly whole: string },
): boolean {
  const line = (behind.split('\n', 1)[0] ?? '').slice(0, lineMax).trim();
  if (line === '' || NOTHING.test(line) || QUESTION.test(line) || DOCUMENTED.test(line) || REFERENCE.test(line) || CODE.test(line))
    return false;
  if (MEASURE.test(line)) return isBare && STATUS.test(line);
  if (FRAME.test(whole)) return true;
  if (isDocument(whole) || isList(whole)) return false;
  if (!isBare) return true;
  if (isException && POLICY.test(line)) return false;
  return !isTitle(line);
}

/** True when the line has no word of failure and begins with an article, is capitalised as a title, or is long without a statement. */
function isTitle(line: string): boolean {
  const parts = line.split(/\s+/, 30);
  const isCapitalised = parts.length > 1 && parts.every((word) => TITLE_WORDS.test(word));
  if (isCapitalised && parts.length > 2 && (ARTICLE.test(line) || (parts.length > 4 && parts.some((word) => /^\p{Ll}/u.test(word)))))
    return true;
  if (WRONG.test(line)) return false;
  return isCapitalised || ARTICLE.test(line) || COUNTED.test(line) || (parts.length > 3 && !STATEMENT.test(line));
}

/** True when the first line precedes paragraphs of prose, or is the head of an article. */
export function isDocument(whole: string): boolean {
  const [first = '', ...rest] = whole.split('\n', linesMax);
  const second = rest.find((line) => line.trim() !== '') ?? '';
  if (BYLINE.test(second.trim())) return true;
  if (first.length > lineMax && (first.match(/[.!?] \p{Lu}/gu)?.length ?? 0) > 4) return true;
  return rest.some((line, at) => (rest[at - 1]?.trim() ?? '') === '' && at > 0 && isProse(line));
}

function isProse(line: string): boolean {
  return /^\p{Lu}/u.test(line) && /[.!?:]\s*$/.test(line) && line.split(' ').length > 14;
}

/** True when further lines begin as log lines or list entries do. */
function isList(whole: string): boolean {
  return whole
    .split('\n', linesMax)
    .slice(1)
    .some((line) => LISTED.test(line));
}
