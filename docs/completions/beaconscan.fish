function __beaconscan_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __beaconscan_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __beaconscan_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __beaconscan_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __beaconscan_parse_tokens -S
    set -l unparsed_tokens (__beaconscan_tokens -pc)
    switch $unparsed_tokens[1]
    case 'beaconscan'
        __beaconscan_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'scan'
            __beaconscan_parse_subcommand 0 'replay=+' 'speed=' 'follow' 'duration=' 'adapter=+' 'backend=' 'active' 'coded' 'uuid=+' 'major=' 'minor=' 'region=+' 'format=' 'quiet' 'verbose' 'count=' 'version' 'h/help'
        case 'range'
            __beaconscan_parse_subcommand 0 'replay=+' 'speed=' 'follow' 'duration=' 'adapter=+' 'backend=' 'active' 'coded' 'uuid=+' 'major=' 'minor=' 'region=+' 'model=' 'environment=' 'measured-power=' 'adapter-offset=+' 'calibrate=+' 'zones=' 'format=' 'quiet' 'verbose' 'interval=' 'count=' 'raw' 'version' 'h/help'
        case 'monitor'
            __beaconscan_parse_subcommand 0 'replay=+' 'speed=' 'follow' 'duration=' 'adapter=+' 'backend=' 'active' 'coded' 'uuid=+' 'major=' 'minor=' 'region=+' 'exit-after=' 'enter-rssi=' 'exit-rssi=' 'enter-distance=' 'exit-distance=' 'enter-count=' 'dwell=' 'model=' 'environment=' 'measured-power=' 'adapter-offset=+' 'calibrate=+' 'format=' 'quiet' 'verbose' 'state-file=' 'exec=' 'count=' 'version' 'h/help'
        case 'inspect'
            __beaconscan_parse_subcommand -r 1 'replay=+' 'speed=' 'follow' 'duration=' 'adapter=+' 'backend=' 'active' 'coded' 'uuid=+' 'major=' 'minor=' 'region=+' 'format=' 'quiet' 'verbose' 'version' 'h/help'
        case 'decode'
            __beaconscan_parse_subcommand -r 1 'as=' 'format=' 'version' 'h/help'
        case 'record'
            __beaconscan_parse_subcommand 1 'replay=+' 'speed=' 'follow' 'duration=' 'adapter=+' 'backend=' 'active' 'coded' 'rotate-size=' 'rotate-every=' 'keep=' 'format=' 'count=' 'force' 'quiet' 'version' 'h/help'
        case 'simulate'
            __beaconscan_parse_subcommand 1 'o/output=' 'format=' 'truth=' 'seed=' 'version' 'h/help'
        case 'advertise'
            __beaconscan_parse_subcommand 0 'uuid=' 'major=' 'minor=' 'measured-power=' 'adapter=' 'interval=' 'legacy' 'extended' 'tx-power' 'random-address' 'duration=' 'quiet' 'version' 'h/help'
        case 'adapters'
            __beaconscan_parse_subcommand 0 'format=' 'quiet' 'version' 'h/help'
        case 'doctor'
            __beaconscan_parse_subcommand 0 'format=' 'version' 'h/help'
        case 'help'
            __beaconscan_parse_subcommand -r 1 'version'
        end
    end
end

function __beaconscan_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __beaconscan_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __beaconscan_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __beaconscan_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__beaconscan_tokens -p)
    if test -z "$(__beaconscan_tokens -t)"
        set -l index (count (__beaconscan_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'beaconscan' -f
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'scan' -d 'Show every sighting as it is heard.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'range' -d 'Show nearby beacons with proximity and distance, once a second.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'monitor' -d 'Show when regions are entered and left, and why.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'inspect' -d 'Show what is in a recording or on air: packets, beacons, what was refused.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'decode' -d 'Take one advert apart: its structures, the beacon in it, and what is wrong where.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'record' -d 'Save what the adapter hears, as btsnoop or pcapng.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'simulate' -d 'Write a capture from a scenario whose truth is known.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'advertise' -d 'Be an iBeacon, for as long as the command runs.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'adapters' -d 'Show the Bluetooth adapters, how they are, and what they can do.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'doctor' -d 'Find what stops scanning on this machine, and the commands that mend it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan"' -l 'replay' -d 'A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" speed' -l 'speed' -d 'How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" follow' -l 'follow' -d 'Go on when the recording\'s end is reached: it is still being written.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" duration' -l 'duration' -d 'Stop after so many seconds, of the recording\'s time where there is one.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan"' -l 'adapter' -d 'Listen with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" backend' -l 'backend' -d 'How the adapter is spoken to: auto, hci (a raw socket) or bluez.' -rfka 'auto hci bluez'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" active' -l 'active' -d 'Ask advertisers for their scan responses too, which costs them power.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" coded' -l 'coded' -d 'Listen on the Coded PHY too, where the adapter has it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan"' -l 'uuid' -d 'Only beacons of this proximity UUID.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" major' -l 'major' -d 'Of --uuid, only this major.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" minor' -l 'minor' -d 'Of --uuid, only this minor.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan"' -l 'region' -d 'A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" verbose' -l 'verbose' -d 'Say more on standard error: files, counts, what was refused.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" count' -l 'count' -d 'Stop after so many sightings.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan scan" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'replay' -d 'A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" speed' -l 'speed' -d 'How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" follow' -l 'follow' -d 'Go on when the recording\'s end is reached: it is still being written.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" duration' -l 'duration' -d 'Stop after so many seconds, of the recording\'s time where there is one.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'adapter' -d 'Listen with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" backend' -l 'backend' -d 'How the adapter is spoken to: auto, hci (a raw socket) or bluez.' -rfka 'auto hci bluez'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" active' -l 'active' -d 'Ask advertisers for their scan responses too, which costs them power.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" coded' -l 'coded' -d 'Listen on the Coded PHY too, where the adapter has it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'uuid' -d 'Only beacons of this proximity UUID.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" major' -l 'major' -d 'Of --uuid, only this major.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" minor' -l 'minor' -d 'Of --uuid, only this minor.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'region' -d 'A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" model' -l 'model' -d 'How signal falls with distance: log-distance, android-nexus5 or android-2013.' -rfka 'log-distance android-nexus5 android-2013'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" environment' -l 'environment' -d 'The site\'s environment factor, the exponent of log-distance: 2 is free space.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" measured-power' -l 'measured-power' -d 'The power heard at 1 m, in place of what the beacons say.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'adapter-offset' -d 'How much stronger than true the adapter hears; for one of several, hci1=3.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range"' -l 'calibrate' -d 'What is known of some beacons: UUID[:MAJOR[:MINOR]]@power=-62,exponent=2.4,offset=3.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" zones' -l 'zones' -d 'Where zones end, in metres: enter and leave immediate, enter and leave near.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" verbose' -l 'verbose' -d 'Say more on standard error: files, counts, what was refused.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" interval' -l 'interval' -d 'Time between two reports.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" count' -l 'count' -d 'Stop after so many reports.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" raw' -l 'raw' -d 'Show the raw signal and the distance from it beside the smoothed.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan range" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'replay' -d 'A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" speed' -l 'speed' -d 'How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" follow' -l 'follow' -d 'Go on when the recording\'s end is reached: it is still being written.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" duration' -l 'duration' -d 'Stop after so many seconds, of the recording\'s time where there is one.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'adapter' -d 'Listen with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" backend' -l 'backend' -d 'How the adapter is spoken to: auto, hci (a raw socket) or bluez.' -rfka 'auto hci bluez'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" active' -l 'active' -d 'Ask advertisers for their scan responses too, which costs them power.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" coded' -l 'coded' -d 'Listen on the Coded PHY too, where the adapter has it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'uuid' -d 'Only beacons of this proximity UUID.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" major' -l 'major' -d 'Of --uuid, only this major.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" minor' -l 'minor' -d 'Of --uuid, only this minor.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'region' -d 'A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" exit-after' -l 'exit-after' -d 'A beacon is gone after so much silence; adaptive learns it from the beacon\'s own gaps.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" enter-rssi' -l 'enter-rssi' -d 'Enter only above this signal strength.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" exit-rssi' -l 'exit-rssi' -d 'Leave below this signal strength. (default: 3 dB below --enter-rssi)' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" enter-distance' -l 'enter-distance' -d 'Enter only nearer than this.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" exit-distance' -l 'exit-distance' -d 'Leave farther away than this. (default: 1.4 times --enter-distance)' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" enter-count' -l 'enter-count' -d 'Enter only when so many of the last M sightings lie inside those limits.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" dwell' -l 'dwell' -d 'Enter only when the beacon was inside those limits for so long.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" model' -l 'model' -d 'How signal falls with distance: log-distance, android-nexus5 or android-2013.' -rfka 'log-distance android-nexus5 android-2013'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" environment' -l 'environment' -d 'The site\'s environment factor, the exponent of log-distance: 2 is free space.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" measured-power' -l 'measured-power' -d 'The power heard at 1 m, in place of what the beacons say.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'adapter-offset' -d 'How much stronger than true the adapter hears; for one of several, hci1=3.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor"' -l 'calibrate' -d 'What is known of some beacons: UUID[:MAJOR[:MINOR]]@power=-62,exponent=2.4,offset=3.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" verbose' -l 'verbose' -d 'Say more on standard error: files, counts, what was refused.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" state-file' -l 'state-file' -d 'Keep regions and their states here, and take up what is there.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" exec' -l 'exec' -d 'Run this on each event, by /bin/sh.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" count' -l 'count' -d 'Stop after so many entries and exits.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan monitor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan inspect" -ge 1' -F
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect"' -l 'replay' -d 'A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" speed' -l 'speed' -d 'How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" follow' -l 'follow' -d 'Go on when the recording\'s end is reached: it is still being written.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" duration' -l 'duration' -d 'Stop after so many seconds, of the recording\'s time where there is one.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect"' -l 'adapter' -d 'Listen with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" backend' -l 'backend' -d 'How the adapter is spoken to: auto, hci (a raw socket) or bluez.' -rfka 'auto hci bluez'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" active' -l 'active' -d 'Ask advertisers for their scan responses too, which costs them power.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" coded' -l 'coded' -d 'Listen on the Coded PHY too, where the adapter has it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect"' -l 'uuid' -d 'Only beacons of this proximity UUID.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" major' -l 'major' -d 'Of --uuid, only this major.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" minor' -l 'minor' -d 'Of --uuid, only this minor.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect"' -l 'region' -d 'A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" verbose' -l 'verbose' -d 'Say more on standard error: files, counts, what was refused.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan inspect" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan decode" as' -l 'as' -d 'What the bytes are: auto, ad, manufacturer, h4, ll or command.' -rfka 'auto ad manufacturer h4 ll command'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan decode" format' -l 'format' -d 'How the answer is written: table, json or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan decode" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan decode" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan record" -eq 1' -F
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record"' -l 'replay' -d 'A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.' -rF
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" speed' -l 'speed' -d 'How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" follow' -l 'follow' -d 'Go on when the recording\'s end is reached: it is still being written.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" duration' -l 'duration' -d 'Stop after so many seconds, of the recording\'s time where there is one.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record"' -l 'adapter' -d 'Listen with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" backend' -l 'backend' -d 'How the adapter is spoken to: auto, hci (a raw socket) or bluez.' -rfka 'auto hci bluez'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" active' -l 'active' -d 'Ask advertisers for their scan responses too, which costs them power.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" coded' -l 'coded' -d 'Listen on the Coded PHY too, where the adapter has it.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" rotate-size' -l 'rotate-size' -d 'Begin the next file before one is larger: 500K, 10M or 1G.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" rotate-every' -l 'rotate-every' -d 'Begin the next file after so long: 90s, 15m, 1h or 1d.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" keep' -l 'keep' -d 'Keep so many files at most, with those of earlier runs; remove the oldest.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" format' -l 'format' -d 'btsnoop, btmon (btsnoop that says which adapter) or pcapng. (default: by the file\'s ending, else btsnoop; btmon for several adapters)' -rfka 'btsnoop btmon pcapng'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" count' -l 'count' -d 'Stop after so many packets.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" force' -l 'force' -d 'Replace the file if it is there.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan record" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional "beaconscan simulate" -eq 1' -fa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'json\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" o output' -l 'output' -s 'o' -d 'Where the recording goes; - is standard output.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" format' -l 'format' -d 'The recording\'s format. (default: by the output\'s ending, else btsnoop)' -rfka 'btsnoop pcapng'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" truth' -l 'truth' -d 'Where the truth goes; - is standard output. (default: the output\'s name with .truth.jsonl; none if the recording goes to standard output)' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" seed' -l 'seed' -d 'Begin the random numbers elsewhere than the scenario says.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan simulate" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" uuid' -l 'uuid' -d 'The proximity UUID.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" major' -l 'major' -d 'The major.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" minor' -l 'minor' -d 'The minor.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" measured-power' -l 'measured-power' -d 'What is said to be heard at 1 m, in dBm: -128 to 127.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" adapter' -l 'adapter' -d 'The adapter: hci0, or its address AA:BB:CC:DD:EE:FF; else the first.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" interval' -l 'interval' -d 'How often: 20ms to 10.24s.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" legacy' -l 'legacy' -d 'Which packets go on air: those of Bluetooth 4, or those of Bluetooth 5.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" extended' -l 'extended' -d 'Which packets go on air: those of Bluetooth 4, or those of Bluetooth 5.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" tx-power' -l 'tx-power' -d 'With --extended: say with which power it is sent, too.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" random-address' -l 'random-address' -d 'Advertise with an address drawn at random, not with the adapter\'s own.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" duration' -l 'duration' -d 'Stop after so many seconds.' -rfka ''
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan advertise" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan adapters" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan adapters" quiet' -l 'quiet' -d 'Say nothing on standard error but errors.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan adapters" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan adapters" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan doctor" format' -l 'format' -d 'How results are written: table, json (one object a line) or csv.' -rfka 'table json csv'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan doctor" version' -l 'version' -d 'Show the version.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan doctor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_flags_or_options "beaconscan help" version' -l 'version' -d 'Show the version.'
