// GPX. Input: the file.

import LocationSources

func check(_ bytes: [UInt8]) {
  checkTrack(bytes, .gpx)
}
