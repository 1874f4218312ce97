/** The verdict on one tool call in a line, with the call's name and place. */
import type { PartVerdict } from '../model/verdict.ts';

export function partText({ index, tool, explanation, spanId }: PartVerdict): string {
  const place = `(call ${index + 1})`;
  // Most explanations name the call themselves.
  const named = explanation.includes(place) ? explanation : `${tool} ${place}: ${explanation}`;
  return spanId === undefined ? named : `${named} (span ${spanId})`;
}
