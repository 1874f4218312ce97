/** Faults of a configuration or an input as text: the place, the line itself, the problem and the remedy. */
import type { ConfigFault } from '../config/diagnostic.ts';

export function faultsText(faults: readonly ConfigFault[]): string {
  return [...faultBlocks(faults), faults.length === 1 ? '1 fault' : `${faults.length} faults`].join('\n\n');
}

export function warningsText(warnings: readonly ConfigFault[]): string {
  return faultBlocks(warnings)
    .map((block) => `warning: ${block}`)
    .join('\n');
}

export function faultBlocks(faults: readonly ConfigFault[]): readonly string[] {
  return faults.map((fault) => {
    const number = String(fault.line);
    const source = fault.source === '' ? [] : [`  ${number} | ${fault.source}`];
    const place = fault.line === 0 ? fault.file : `${fault.file}:${number}:${fault.column}`;
    return [
      `${place} ${fault.key === '' ? '' : `${fault.key}: `}${fault.problem}`,
      ...source,
      `  ${' '.repeat(number.length)} = ${fault.todo}`,
    ].join('\n');
  });
}
