// For node --import: a server that rolls a die rolls what DICE says.
if (process.env.DICE) Math.random = () => (Number(process.env.DICE) + 0.5) / 8;
