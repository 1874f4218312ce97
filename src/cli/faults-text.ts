/** Faults of a configuration as text: the place, the line itself, what is wrong and what would be right. */
import type { ConfigFault } from '../config/fault.ts';

export function faultsText(faults: readonly ConfigFault[]): string {
  return [...faults.map(block), faults.length === 1 ? '1 fault' : `${faults.length} faults`].join('\n\n');
}

export function warningsText(warnings: readonly ConfigFault[]): string {
  return warnings.map((warning) => `warning: ${block(warning)}`).join('\n');
}

function block(fault: ConfigFault): string {
  const number = String(fault.line);
  const source = fault.source === '' ? [] : [`  ${number} | ${fault.source}`];
  return [`${fault.file}:${number}:${fault.column} ${fault.key === '' ? '' : `${fault.key}: `}${fault.problem}`, ...source, `  ${' '.repeat(number.length)} = ${fault.todo}`].join('\n');
}
