function colour = colours(number)
%COLOURS  The colours of series: those of the report's figures, with contrast on white and distinct for colour-blind readers.
%   colour = wiregauge.internal.colours(number) returns RGB, 1-by-3; they repeat after ten.

% crates/report/src/figures/look.rs has them too; a test there compares them.
all = {'#216fa9', '#903a00', '#009392', '#0b98f8', '#d55f03', '#cc71c0', '#788a59', '#000000', '#772dce', '#712200'};
digits = all{mod(number - 1, numel(all)) + 1}(2:end);
colour = hex2dec(reshape(digits, 2, 3)')' / 255;
end
