/** Where an agent's model is. The path does not name the agent: some instrumentations write the address down. */
export const modelAt = (agent, version = '/v1') => `${process.env.RIG_MODEL}/${agent === 'refund_desk' ? 'm2' : 'm1'}${version}`;
