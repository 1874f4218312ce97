/** Reads the list `redact`, and finds faults that the schema cannot express. */
import { redaction, type Redaction } from '../../redaction/redaction.ts';
import { notSearched } from '../../redaction/search.ts';
import { readyPatterns, redactionRules, type RedactionSettings } from '../../redaction/settings.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { type Finding, finding } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import type { Written } from '../sections/index.ts';
import { patternProblem } from '../checks/check.ts';

export function redactionSettings(list: Draft<Written['redact']>): readonly RedactionSettings[] {
  return list.flatMap((item, place) => settingsOf(item, place) ?? []);
}

/** `undefined` for an empty list. */
export function configuredRedaction(settings: readonly RedactionSettings[], telemetry: Telemetry): Redaction | undefined {
  if (settings.length === 0) return undefined;
  return redaction({
    rules: redactionRules(settings),
    onRedacted: (rule) => telemetry.add('tracejury.redactions', 1, { 'tracejury.rule': rule }),
  });
}

/** No rule may match a replacement: joined texts pass the rules again. */
export function redactionFindings(list: Draft<Written['redact']>): readonly Finding[] {
  const usable = list.flatMap((item, place) => {
    const settings = settingsOf(item, place);
    return settings === undefined || ('pattern' in settings && patternProblem(settings.pattern) !== undefined) ? [] : [{ settings, place }];
  });
  return usable.flatMap(({ settings, place }): readonly Finding[] => {
    const [rule] = redactionRules([settings]);
    const isMatched = (text: string): boolean => (rule?.parts(text, () => true) ?? []).length > 0;
    const key = 'pattern' in settings ? 'pattern' : 'match';
    const matched = usable.find((other) => isMatched(other.settings.replace));
    if (matched !== undefined)
      return [
        finding(
          ['redact', matched.place, 'replace'],
          'value',
          `${JSON.stringify(matched.settings.replace)} is matched by redact[${place}].${key}`,
          'Choose another text: no rule may match a replacement.',
        ),
      ];
    if (isMatched(notSearched))
      return [
        finding(
          ['redact', place, key],
          'value',
          `matches ${JSON.stringify(notSearched)}, which replaces texts that are too long to search`,
          'Write a narrower pattern.',
        ),
      ];
    return [];
  });
}

/** `undefined` when the schema or another check refuses the entry. */
function settingsOf({ match, pattern, replace }: Draft<Written['redact'][number]>, place: number): RedactionSettings | undefined {
  if (replace === undefined || (match === undefined) === (pattern === undefined)) return undefined;
  if (pattern !== undefined) return { pattern, replace, place };
  const ready = readyPatterns.find((name) => name === match);
  return ready === undefined ? undefined : { match: ready, replace };
}
