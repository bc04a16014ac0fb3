// On Apple's systems `import CoreLocation` brings Foundation, and with it Dispatch and Observation. Sources rely on
// it.
@_exported public import Foundation
@_exported public import Observation
