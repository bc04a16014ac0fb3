// On Apple's systems `import CoreLocation` brings Foundation, and with it Dispatch. Sources rely on it.
@_exported public import Foundation
