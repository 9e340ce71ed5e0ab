export default {
  plants: {
    input: process.env.DESCRIPTION_URL,
    output: { target: 'plants.ts', client: 'fetch', baseUrl: process.env.BASE_URL },
  },
}
