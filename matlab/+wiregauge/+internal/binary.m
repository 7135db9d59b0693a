function path = binary()
%BINARY  Where the wiregauge program is.
%   path = wiregauge.internal.binary() looks at the environment variable WIREGAUGE, then beside this package and into the
%   target/release of its sources, then along PATH.
%
%   Errors: wiregauge:missing if it is nowhere.

program = 'wiregauge';
if ispc()
    program = 'wiregauge.exe';
end
path = getenv('WIREGAUGE');
if ~isempty(path)
    if ~isfile(path)
        wiregauge.internal.fail('wiregauge:missing', 'the environment variable WIREGAUGE is %s, which is not a file', path);
    end
    return
end
beside = fileparts(fileparts(fileparts(mfilename('fullpath'))));
places = {beside, fullfile(beside, 'bin'), fullfile(fileparts(beside), 'target', 'release')};
for k = 1:numel(places)
    path = fullfile(places{k}, program);
    if isfile(path)
        return
    end
end
path = wiregauge.internal.onPath('wiregauge');
if ~isempty(path)
    return
end
wiregauge.internal.fail('wiregauge:missing', ...
    ['the wiregauge program is not on the PATH, nor next to the package (%s). Install it, or set its path: ' ...
    'setenv(''WIREGAUGE'', ''/path/to/wiregauge'')'], beside);
end
