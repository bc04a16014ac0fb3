// Logs of gpsd's JSON protocol. Input: lines.

import LocationSources

func check(_ bytes: [UInt8]) {
  checkTrack(bytes, .gpsdJSON)
}
