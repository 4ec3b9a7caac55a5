import https from "node:https";

const viaNode = (url) =>
  new Promise((resolve, reject) => {
    const read = async (response) => resolve(Buffer.concat(await Array.fromAsync(response)).toString());
    https.get(url, read).on("error", reject);
  });

export default {
  name: "Self alias",
  version: "0.0.1",
  async run() {
    const response = await fetch("https://api.headwater.test/v1/from-fetch");
    return [await response.text(), await viaNode("https://api.headwater.test/v1/from-node")];
  },
};
