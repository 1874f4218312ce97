/** A system prompt without the text that the framework puts around the developer's instructions, for all dialects. */

/** Google's Agent Development Kit: before the instructions in JavaScript, after them in Python and Java. */
const ADK_SIGN = 'Your internal name is "';
const ADK_IDENTITY =
  /(?:^|\n\n)You are an agent\. Your internal name is "[^"]*"\.(?:\s*The description about you is "[^"]*"\.?)?(?:\n\n|$)/;
const ADK_TRANSFERS = /\n\n\s*You have a list of other agents to transfer to:\n[^]*$/;

/** BeeAI puts the instructions into a longer text. */
const BEEAI_SIGN = 'Your instructions are:\n';
const BEEAI_END = '\n\nWhen the user sends a message';

export function withoutFramework(prompt: string): string {
  const start = prompt.indexOf(BEEAI_SIGN);
  const end = start < 0 ? -1 : prompt.indexOf(BEEAI_END, start);
  if (end >= 0) return prompt.slice(start + BEEAI_SIGN.length, end);
  if (!prompt.includes(ADK_SIGN)) return prompt;
  const match = ADK_IDENTITY.exec(prompt);
  if (match === null) return prompt;
  if (match.index > 0) return prompt.slice(0, match.index);
  return prompt.slice(match[0].length).replace(ADK_TRANSFERS, '');
}
